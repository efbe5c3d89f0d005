import { client } from '../session.js';

/** A thing by its prefix, and the page that shows it; some are found through what they belong to. */
const PLACES: Record<string, (id: string) => string | Promise<string>> = {
  apr: (id) => `/approvals/${id}`,
  dir: (id) => `/directives/${id}`,
  pkt: async (id) => `/directives/${(await client.workPackets.get(id)).directiveId}`,
  act: async (id) => approvalOr((await client.actions.get(id)).approvalId),
  qst: async (id) => approvalOr((await client.questions.get(id)).approvalId),
  so: (id) => `/orders/${id}`,
  esc: (id) => `/escalations/${id}`,
  chk: () => '/guardian',
  sig: () => '/overview?view=capo',
  rcp: (id) => `/overview?view=auditor&receipt=${id}`,
  con: () => '/overview?view=auditor',
  doc: () => '/documents',
  evl: () => '/overview?view=auditor',
  tok: () => '/settings/api',
  pck: () => '/packs',
  wks: () => '/workspaces',
};

const ID = /^([a-z]{2,4})_[0-9a-z]{26}$/;

export function isId(text: string): boolean {
  return prefixOf(text) in PLACES;
}

/** Where a thing is shown. @throws APIError where there is none, or it is not for this person */
export async function placeOf(id: string): Promise<string> {
  return PLACES[prefixOf(id)]!(id);
}

function prefixOf(id: string): string {
  return ID.exec(id)?.[1] ?? '';
}

function approvalOr(approvalId: string | null): string {
  return approvalId === null ? '/' : `/approvals/${approvalId}`;
}
