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

/** The pages, by the words for what they show. */
const PAGES = [
  ['/', 'Inbox', 'approval|draft|inbox'],
  ['/directives', 'Directives', 'directive'],
  ['/overview', 'Overview', 'overview|figure|revenue|signal|receipt|audit|health'],
  ['/escalations', 'Escalations', 'escalation'],
  ['/guardian', 'Safety', 'guardian|mode|kill switch|revert|checkpoint'],
  ['/people', 'People', 'people|invite|member|team|colleague|role'],
  ['/orders', 'Standing orders', 'order|rule'],
  ['/agents', 'Agents and tools', 'agent|tool|capo'],
  ['/schedules', 'Schedules', 'schedule'],
  ['/documents', 'Documents', 'document|memo|note'],
  ['/report', 'Daily Report', 'report'],
  ['/connections', 'Connections', 'webhook|delivery|deliverie|connector'],
  ['/packs', 'Skill packs', 'pack|skill'],
  ['/settings', 'Settings', 'setting|zone|currency|quiet hour|sender'],
  ['/tier', 'Tier and licence', 'tier|licence|license'],
  ['/workspaces', 'Workspaces', 'workspace|export'],
  ['/service', 'The service', 'model|mail server'],
  ['/settings/api', 'API', 'token|api'],
  ['/account', 'Your account', 'account|password|second factor'],
] as const;
const MOST_NAMED = 3;

/** The pages about what a text names. */
export function pagesNamedIn(text: string): { to: (typeof PAGES)[number][0]; title: string }[] {
  return PAGES.filter(([, , words]) => new RegExp(`\\b(?:${words})s?\\b`, 'i').test(text))
    .slice(0, MOST_NAMED)
    .map(([to, title]) => ({ to, title }));
}

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
