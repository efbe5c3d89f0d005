import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { rawPublicKey, signDocument } from '../../src/platform/signatures/signed-document.js';

/** A publisher of skill packs, with their key. */
export interface Publisher {
  name: string;
  key: KeyObject;
}

export function newPublisher(name: string): Publisher {
  return { name, key: generateKeyPairSync('ed25519').privateKey };
}

/** As SKILL_PACK_PUBLISHERS has them. */
export function publishersOf(...publishers: Publisher[]): string {
  return publishers.map(({ name, key }) => `${name}=${rawPublicKey(key)}`).join(',');
}

export const REMINDER = {
  name: 'payment-reminder',
  description: 'The first reminder of an invoice.',
  schemaVersion: 1,
  capo: 'capo_revenue',
  instructions: 'Name the invoice and the amount, and ask kindly.',
  inputs: { type: 'object', properties: { invoice: { type: 'string', description: 'The number.' } } },
  outputs: { type: 'object', properties: { mail: { type: 'string', description: 'The mail.' } } },
};

export const MAIL_ASKS = {
  key: 'mail-asks',
  name: 'Mail of Revenue asks',
  text: 'Each mail of Revenue waits for a person.',
  capos: ['capo_revenue'],
  effect: 'require_approval',
  match: { actionTypes: ['email.send'] },
};

export const FILES_DOCUMENTS = {
  key: 'files-documents',
  name: 'Revenue files documents',
  capos: ['capo_revenue'],
  effect: 'allow',
  match: { actionTypes: ['document.file'] },
  limits: { maxPerDay: 10 },
};

export interface Manifest {
  name: string;
  version: string;
  publisher: string;
  description: string;
  skills: object[];
  standingOrders: object[];
}

/** A pack with one skill and two orders. */
export function manifestOf(changes: Partial<Manifest> = {}): Manifest {
  return {
    name: 'invoice-reminders',
    version: '1.0.0',
    publisher: 'acme',
    description: 'Reminders of overdue invoices.',
    skills: [REMINDER],
    standingOrders: [MAIL_ASKS, FILES_DOCUMENTS],
    ...changes,
  };
}

/** The body of `POST /skill-packs`. */
export function signedPack<T extends object>(manifest: T, { key }: Publisher) {
  return { manifest, signature: signDocument(manifest, key) };
}
