import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EXPORT_FORMAT, endText, ExportLines, type Manifest } from '../src/features/tenancy/export-format.js';
import { newId } from '../src/platform/kernel/ids.js';
import { hashOf, type RecordedInput } from '../src/features/standing-orders/decision-input.js';
import { type KeyRecord, keyIdOf } from '../src/platform/receipts/key-chain.js';
import {
  GENESIS_HASH,
  type ReceiptContent,
  receiptBody,
  receiptHash,
} from '../src/platform/receipts/receipt.js';
import type { StoredReceipt } from '../src/platform/receipts/verify-chain.js';
import { call } from './calls.js';
import { type Process, start } from './processes.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces } from './workspaces.js';

const SIZES = isQuick ? [1_000, 10_000] : [100_000, 1_000_000];
/** Between two requests of the agent in the log: 333,000 of them are a year's work. */
const APART_MS = 95_000;
const VERIFIER = new URL('../src/features/tenancy/verify-audit.js', import.meta.url).href;

/** What verifying a log of so many receipts takes. */
export interface LongExport {
  receipts: number;
  seconds: number;
  /** The most that the process held, all of Node.js included. */
  residentMb: number;
}

/** Exports of a workspace whose agent did the same all year: asked for what an order allows, consumed it, reported it. */
export async function measureExports(environment: Record<string, string>): Promise<LongExport[]> {
  const service = await start('../src/main.js', { ...environment, RATE_LIMIT_STORE: 'memory' });
  const folder = await mkdtemp(join(tmpdir(), 'consigliere-exports-'));
  try {
    const [workspace] = await asOwner(environment['DATABASE_URL']!, (owner) => createWorkspaces(owner, 1));
    const { workspaceId, token } = workspace!;
    const agent = await prepare(service, token);
    const path = `${service.url}/api/pro/action-requests`;
    const params = { order: 'A-17', amount: 25 };
    const { actionRequestId } = await call<{ actionRequestId: string }>(path, agent, {
      tool: 'pay.invoice',
      params,
      consume: true,
    });
    await call(`${path}/${actionRequestId}/result`, agent, { outcome: 'succeeded', summary: 'Paid.' });
    const feed = await fetch(`${service.url}/api/pro/audit-feed?format=jsonl`, {
      headers: { 'x-service-token': token },
    });
    const receipts = contentsOf(await feed.text(), workspaceId);
    const measured: LongExport[] = [];
    for (const size of SIZES) {
      const file = join(folder, 'export.jsonl');
      writeSignedExport(file, () => repeated(receipts, size));
      measured.push({ receipts: size, ...(await verified(file)) });
    }
    return measured;
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** An agent whose tool an order allows, without limits: what it has used is not in the decisions. Answers its token. */
async function prepare(service: Process, owner: string): Promise<string> {
  const post = <T>(path: string, body: object) => call<T>(`${service.url}/api/pro${path}`, owner, body);
  const paramsSchema = { type: 'object', properties: { order: {}, amount: { type: 'number' } } };
  await post('/tools', { name: 'pay.invoice', paramsSchema, reversibility: 'reversible', risk: 'low' });
  const { standingOrderId, version } = await post<{ standingOrderId: string; version: number }>(
    '/standing-orders',
    { name: 'Invoices', effect: 'allow', match: { actionTypes: ['pay.invoice'] } },
  );
  await post(`/standing-orders/${standingOrderId}/activate`, { acknowledge: true, version });
  const agent = { name: 'Agent', agent: { name: 'Agent' }, tools: ['pay.*'] };
  return (await post<{ token: string }>('/tokens', agent)).token;
}

async function verified(file: string): Promise<Omit<LongExport, 'receipts'>> {
  const program = `
    const { verify } = await import('${VERIFIER}');
    const began = performance.now();
    const { isSound, faults } = await verify(process.argv[1]);
    if (!isSound) throw new Error(JSON.stringify(faults));
    const seconds = (performance.now() - began) / 1_000;
    console.log(JSON.stringify({ seconds, residentMb: process.resourceUsage().maxRSS / 1_024 }));`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    program,
    file,
  ]);
  return JSON.parse(stdout);
}

/** The receipts in lines of the audit feed, oldest first. */
export function contentsOf(feed: string, workspaceId: string): ReceiptContent[] {
  const lines = feed.trimEnd().split('\n').toReversed();
  return lines.map((text) => {
    const { seq: _seq, prevHash: _prevHash, hash: _hash, ...content } = JSON.parse(text);
    return { ...content, workspaceId };
  });
}

/** These, and the last three of them, which are about one request of an agent, again and again, each about another request. */
export function* repeated(receipts: readonly ReceiptContent[], count: number): Generator<ReceiptContent> {
  const cycle = receipts.slice(-3);
  const text = JSON.stringify(cycle);
  const id = cycle[0]!.entity.id;
  yield* receipts;
  for (let n = receipts.length; n < count; n += cycle.length) {
    const later = Math.round((n - receipts.length + 1) * (APART_MS / cycle.length));
    const again = JSON.parse(text.replaceAll(id, `act_${idOf(n)}`)) as ReceiptContent[];
    for (const content of again.slice(0, count - n)) {
      content.at += later;
      for (const decision of decisionsOf(content)) {
        decision.input.at += later;
        decision.inputHash = hashOf(decision.input);
      }
      yield content;
    }
  }
}

function idOf(n: number): string {
  return String(n).padStart(26, '0');
}

function decisionsOf({ details }: ReceiptContent): { input: RecordedInput; inputHash: string }[] {
  return (details['decisions'] ?? []) as { input: RecordedInput; inputHash: string }[];
}

/**
 * Writes receipts as a workspace exports them, in a chain from the first on and signed by a key of its own.
 * @param contents the same receipts each time
 */
export function writeSignedExport(
  path: string,
  contents: () => Iterable<ReceiptContent>,
): { keyId: string; head: { seq: number; hash: string } } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
  const key: KeyRecord = {
    keyId: keyIdOf(pem),
    publicKey: pem,
    createdAt: 0,
    signedBy: null,
    signature: null,
  };
  const file = openSync(path, 'w+');
  // The first line names the last receipt, and not all of them are held at once.
  let last: StoredReceipt | undefined;
  for (const receipt of chained(contents())) last = receipt;
  const { seq, hash, workspaceId, at } = last!;
  const manifest: Manifest = {
    format: EXPORT_FORMAT,
    exportId: newId('exp'),
    workspaceId,
    workspaceName: 'Long',
    at,
    receiptHead: { seq, hash },
    signingKeys: [key],
    tables: [],
    leftOut: {},
  };
  const lines = new ExportLines();
  writeSync(file, lines.manifest(manifest));
  for (const { workspaceId: _workspaceId, ...receipt } of chained(contents()))
    writeSync(file, lines.receipt(receipt));
  const { counts, sha256 } = lines;
  const signature = sign(null, Buffer.from(endText(manifest, { counts, sha256 })), privateKey);
  writeSync(
    file,
    lines.end({ counts, sha256, keyId: key.keyId, signature: signature.toString('base64url') }),
  );
  closeSync(file);
  return { keyId: key.keyId, head: { seq, hash } };
}

function* chained(contents: Iterable<ReceiptContent>): Generator<StoredReceipt> {
  let [seq, prevHash] = [0, GENESIS_HASH];
  for (const content of contents) {
    const body = receiptBody(content);
    const hash = receiptHash(prevHash, body);
    const { actor, entity, ...columns } = content;
    const { workspaceId, receiptId, at, action, directiveId, teamId, capo } = columns;
    yield {
      ...{ seq: ++seq, workspaceId, receiptId, at, actorType: actor.type, actorId: actor.id, action },
      ...{ entityType: entity.type, entityId: entity.id, directiveId, teamId, capo, body, prevHash, hash },
    };
    prevHash = hash;
  }
}
