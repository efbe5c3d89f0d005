/**
 * Writes docs/reference: routes.txt (every route with its role and limit), errors.md (every error), states.md (the tables of
 * states), openapi.json, connectors.schema.json (the form of CONNECTORS_FILE), skill.schema.json; and docs/evals.md (every
 * rule of the evals). All are read from the decorators and definitions of the built program, which is wired but not started, so no
 * database is needed. With --check it writes nothing and exits 1 when a file would change.
 *
 * Built with the service, run from the project's folder: node dist/scripts/generate-reference.js [--check]
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModulesContainer, NestFactory } from '@nestjs/core';
import { AppModule } from '../src/app.module.js';
import { connectorsJsonSchema } from '../src/features/connectors/connectors-schema.js';
import { DIRECTIVE_STATES } from '../src/features/directives/directive-states.js';
import { PACKET_STATES } from '../src/features/directives/packets/packet-states.js';
import { PENALTIES, type Rule, THRESHOLD } from '../src/features/evals/rule.js';
import { SAFETY_RULES } from '../src/features/evals/safety-rules.js';
import { SKILL_RULES } from '../src/features/evals/skill-rules.js';
import { SKILL_SCHEMA } from '../src/features/evals/skill-schema.js';
import { SOUNDNESS_RULES } from '../src/features/evals/soundness-rules.js';
import { loadConfig } from '../src/platform/config/config.js';
import { DatabaseAddress } from '../src/platform/database/database-address.js';
import { errorReference, openApiDocument, routeReference } from '../src/platform/http/documentation.js';
import { RouteTable } from '../src/platform/http/route-table.js';
import type { Transition } from '../src/platform/kernel/transition-table.js';

/** In preview mode Nest scans modules and controllers but makes no provider: nothing connects, nothing is checked. */
async function preview(): Promise<{ app: INestApplication; routes: RouteTable }> {
  const program = AppModule.forRoot(
    loadConfig({}),
    new DatabaseAddress('postgres://localhost/none', 'postgres://localhost/none'),
  );
  const app = await NestFactory.create(program, { preview: true, logger: ['error'], abortOnError: false });
  // The only provider that the documents are made from; it reads decorators, so it can be made by hand.
  const routes = new RouteTable(new DiscoveryService(app.get(ModulesContainer)), new MetadataScanner());
  routes.onModuleInit();
  const get = (token: unknown) => (token === RouteTable ? routes : app.get(token as never));
  return { app: Object.create(app, { get: { value: get } }) as INestApplication, routes };
}

function stateReference(): string {
  return [
    '# States',
    '',
    'Every transition of a directive and of its work packets. No other transition can happen: one function applies each',
    'of them, with its receipt, and statements repeat only where it starts from.',
    '',
    ...stateTable('Directives', DIRECTIVE_STATES.transitions),
    ...stateTable('Work packets', PACKET_STATES.transitions),
  ].join('\n');
}

function stateTable(title: string, transitions: readonly Transition<string, string>[]): string[] {
  const rows = transitions.map(({ trigger, from, to, by, when }) => {
    const sources = from.map((status) => (status === null ? '(none)' : `\`${status}\``)).join(', ');
    return `| ${sources} | \`${trigger}\` | \`${to}\` | ${by} | ${when} |`;
  });
  return [
    `## ${title}`,
    '',
    '| from | trigger | to | by | when |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ];
}

function evalsReference(): string {
  return [
    '# Evals',
    '',
    'Written by `npm run generate` from the rules themselves (src/features/evals).',
    '',
    '`POST /api/pro/evals/run` holds a target against every rule of its kind. The rules are deterministic: no model is asked, and the',
    'same target has the same findings whenever it is looked at. Each run is stored with its findings and leaves a receipt.',
    '',
    `A score begins at 1. Each rule that is broken takes off its penalty, once, however often it is broken: ${penalties()}. A target`,
    `passes from ${THRESHOLD} on: not with one critical rule broken, nor with three warnings. A rule that could not be computed makes the run an`,
    '`error`, which never passes.',
    '',
    ...evalKind('standing_order_safety', SAFETY_RULES, [
      'The target is a standing order. It is compared with the active orders of the workspace and of its own team, the newest thousand of',
      'them, and its budget with what went out in the last 62 days.',
      '',
      'It is part of the activation of an order: one that allows something and does not pass stays a draft and says why, until an owner',
      'activates it with `acknowledge: true`. An order that tightens is never held back; its findings stand in the run.',
    ]),
    ...evalKind('workflow_candidate_soundness', SOUNDNESS_RULES, [
      'The target is a work packet, looked at beside the directive that it belongs to. The webhook destination or connector operation that',
      'it uses is looked up as it is now; a change after the work packet was carried out is no finding.',
    ]),
    ...evalKind('skill_definition_syntax', SKILL_RULES, [
      'The target is the definition of a skill. The shared schema is [skill.schema.json](reference/skill.schema.json). A skill that is not',
      'installed is given with the request, as `definition`.',
    ]),
  ].join('\n');
}

function penalties(): string {
  return Object.entries(PENALTIES)
    .map(([severity, penalty]) => `${penalty} for ${severity}`)
    .join(', ');
}

/** Rules of one kind take one kind of target; here only what they say of themselves is read. */
function evalKind(kind: string, rules: readonly Omit<Rule<unknown>, 'check'>[], about: string[]): string[] {
  const each = rules.flatMap(({ id, severity, reason, suggestion }) => [
    `### ${id}`,
    '',
    `${severity[0]!.toUpperCase()}${severity.slice(1)}. ${reason}`,
    '',
    suggestion,
    '',
  ]);
  return [`## ${kind}`, '', ...about, '', ...each];
}

const { app, routes } = await preview();
const files = {
  'docs/evals.md': evalsReference(),
  'docs/reference/routes.txt': routeReference(routes.entries),
  'docs/reference/errors.md': errorReference(),
  'docs/reference/states.md': stateReference(),
  'docs/reference/openapi.json': `${JSON.stringify(openApiDocument(app), null, 2)}\n`,
  'docs/reference/connectors.schema.json': `${JSON.stringify(connectorsJsonSchema(), null, 2)}\n`,
  'docs/reference/skill.schema.json': `${JSON.stringify(SKILL_SCHEMA, null, 2)}\n`,
};
const check = process.argv.includes('--check');
for (const [file, wanted] of Object.entries(files)) {
  if ((await readFile(file, 'utf8').catch(() => '')) === wanted) continue;
  if (check) {
    console.error(`${file} is not what the source says: npm run generate`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, wanted);
    console.log(`wrote ${file}`);
  }
}
