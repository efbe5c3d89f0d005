import { createReadStream } from 'node:fs';
import { ExportFault, verifyExport } from '../src/features/tenancy/verify-export.js';

/** Nothing is wrong with the lines of the export, and yet it is not what was asked for. */
class ExportUnread extends Error {}

/**
 * Verifies an export of a workspace, without the service and in memory that does not grow with it:
 * `npm run verify-export -- <file> [id of a signing key that was kept elsewhere]`.
 */
const [file, keptKeyId] = process.argv.slice(2);
try {
  if (file === undefined) throw new ExportUnread('Say which file: npm run verify-export -- <file>');
  const { manifest, end, lines } = await verifyExport(createReadStream(file, { highWaterMark: 1_048_576 }));
  if (keptKeyId !== undefined && !manifest.signingKeys.some(({ keyId }) => keyId === keptKeyId)) {
    throw new ExportUnread(`The export is not signed by the key ${keptKeyId} or one that follows it.`);
  }
  const { workspaceName, at, receiptHead, signingKeys } = manifest;
  console.log(
    `The export is complete and unchanged: ${workspaceName} at ${new Date(at).toISOString()}, ${lines} lines.`,
  );
  console.log(
    `Receipts: ${end.counts['receipts']}, up to ${receiptHead.seq} with the hash ${receiptHead.hash}.`,
  );
  console.log(`SHA-256 of all lines but the last: ${end.sha256}`);
  console.log(`Signed by the key ${end.keyId}; the first key of the service is ${signingKeys[0]!.keyId}.`);
  if (keptKeyId === undefined) {
    console.log('The keys are those that the file brings: compare an id with one that you kept elsewhere.');
  }
} catch (error) {
  if (!(error instanceof ExportFault || error instanceof ExportUnread || isFileError(error))) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

function isFileError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}
