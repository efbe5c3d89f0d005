import type { OpenAPIObject } from '@nestjs/swagger';

type TagObject = NonNullable<OpenAPIObject['tags']>[number];

/** What a tag holds: operations are named `<resource>.<verb>`. */
interface Tag {
  name: string;
  description: string;
  /** Left out: the resource of this name alone. */
  resources?: readonly string[];
}

/** The operations below /api/admin, whatever their resource. */
const ADMIN: Tag = {
  name: 'admin',
  description: 'What an admin administers, with the cookie of a session instead of an operator token.',
};

/** In the order in which people read them. */
const TAGS: readonly Tag[] = [
  {
    name: 'directives',
    description: 'Work that is handed to a capo, the work packets it is done in, and the documents it left.',
    resources: ['directives', 'workPackets', 'documents'],
  },
  { name: 'approvals', description: 'Drafts and requests that wait for the decision of a person.' },
  {
    name: 'actions',
    description: 'What agents of any make ask to do, and the single-use permits for it.',
  },
  { name: 'questions', description: 'What agents ask people.' },
  { name: 'tools', description: 'The tools that agents act with, and how dangerous each is.' },
  {
    name: 'standingOrders',
    description: 'The rules that decide when nobody is there, their versions, simulations and suggestions.',
    resources: ['standingOrders', 'suggestions'],
  },
  {
    name: 'guardian',
    description: 'The mode, the kill switch, reverts, checkpoints, and what would happen if.',
    resources: ['guardian', 'checkpoints'],
  },
  { name: 'schedules', description: 'Directives that recur.' },
  {
    name: 'agents',
    description: 'Capos, agents from outside, and engines.',
    resources: ['agents', 'engines'],
  },
  { name: 'chat', description: 'Conversations with the consigliere.' },
  {
    name: 'signals',
    description: 'What needs attention: signals, and escalations with a decision to make.',
    resources: ['signals', 'escalations'],
  },
  {
    name: 'reports',
    description: 'The Daily Report, its configuration, and the family report with its comments.',
    resources: ['reports', 'family'],
  },
  {
    name: 'figures',
    description: 'Key figures, metrics and revenue.',
    resources: ['kpi', 'metrics', 'revenueEvents'],
  },
  {
    name: 'auditFeed',
    description: 'Every move with its receipt, as people read it and as it can be verified.',
    resources: ['feed', 'auditFeed'],
  },
  { name: 'evals', description: 'Deterministic checks of standing orders, work packets and skills.' },
  { name: 'skillPacks', description: 'Signed packs of skills and draft standing orders.' },
  {
    name: 'webhooks',
    description: 'Destinations of signed events, and what was delivered to them.',
    resources: ['webhooks', 'deliveries'],
  },
  { name: 'partner', description: 'What the partner persona service reports, and what it adds up to.' },
  { name: 'connectors', description: 'The health of every connected system.' },
  {
    name: 'context',
    description: 'The operational context in one call, and what a client needs when it starts.',
    resources: ['context', 'bootstrap', 'local', 'profile', 'notifications'],
  },
  {
    name: 'settings',
    description: 'The settings of the workspace, how the service is set up, and its licence.',
    resources: ['settings', 'setup', 'subscription'],
  },
  {
    name: 'teams',
    description: 'Teams, members and invites.',
    resources: ['teams', 'teamMembers', 'members', 'invites'],
  },
  { name: 'tokens', description: 'Operator tokens, and the tokens of agents.' },
  ADMIN,
  {
    name: 'service',
    description: 'Whether the service is up, and its figures for Prometheus.',
    resources: ['health', 'prometheus'],
  },
];

const RESOURCES = TAGS.flatMap(({ name, resources }) => resources ?? [name]);
const TAG_OF = new Map(
  TAGS.flatMap(({ name, resources }) => (resources ?? [name]).map((resource) => [resource, name])),
);

/** The tag of an operation. @throws for a resource that no tag holds */
export function tagOf(resource: string, isAdmin = false): string {
  const tag = isAdmin ? ADMIN.name : TAG_OF.get(resource);
  if (tag === undefined) throw new Error(`no tag holds ${resource} (documentation-tags.ts)`);
  return tag;
}

/** Where an operation stands in the document, before others with a higher number. */
export function positionOf(resource: string, isAdmin: boolean): number {
  return RESOURCES.indexOf(isAdmin ? ADMIN.name : resource);
}

/** The tags that operations have, in order. */
export function usedTags(used: ReadonlySet<string>): TagObject[] {
  return TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }));
}
