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
import { SKILL_RULES, SKILL_SCHEMA } from '../src/features/evals/skill-rules.js';
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
    'Every transition: from → to (trigger), who causes it, and when.',
    '',
    ...stateList('Directives', DIRECTIVE_STATES.transitions),
    ...stateList('Work packets', PACKET_STATES.transitions),
  ].join('\n');
}

function stateList(title: string, transitions: readonly Transition<string, string>[]): string[] {
  const lines = transitions.map(({ trigger, from, to, by, when }) => {
    const sources = from.map((status) => (status === null ? '(none)' : `\`${status}\``)).join(', ');
    return `- ${sources} → \`${to}\` (\`${trigger}\`), ${by}: ${when}`;
  });
  return [`## ${title}`, '', ...lines, ''];
}

function evalsReference(): string {
  return [
    '# Preflight and evals',
    '',
    '`POST /api/pro/guardian/preflight` with a `directive` or an `action` answers what would happen with it now: the capo, the work',
    'packets as far as they can be told, the decision, its orders and limits. It stores nothing and asks nobody.',
    '',
    '`POST /api/pro/evals/run` holds a target against every rule of its kind; no model is asked. Each run is stored with a receipt. Each',
    'finding says why the rule is there, and what to do about it as here.',
    '',
    `A score begins at 1. Each broken rule takes off its penalty once: ${penalties()}. A target passes from ${THRESHOLD} on. A rule that could`,
    'not be computed makes the run an `error`, which never passes.',
    '',
    ...evalKind(
      'standing_order_safety',
      SAFETY_RULES,
      'A standing order, beside the newest thousand active ones and what went out in 62 days. One that allows something and does not pass stays a draft until an owner activates it with `acknowledge: true`.',
    ),
    ...evalKind(
      'workflow_candidate_soundness',
      SOUNDNESS_RULES,
      'A work packet, with its directive and the destination or operation that it uses.',
    ),
    ...evalKind(
      'skill_definition_syntax',
      SKILL_RULES,
      'A skill by [skill.schema.json](reference/skill.schema.json). One that is not installed is given as `definition`.',
    ),
  ].join('\n');
}

function penalties(): string {
  return Object.entries(PENALTIES)
    .map(([severity, penalty]) => `${penalty} for ${severity}`)
    .join(', ');
}

/** Rules of one kind take one kind of target; here only what they say of themselves is read. */
function evalKind(kind: string, rules: readonly Omit<Rule<unknown>, 'check'>[], about: string): string[] {
  const lines = rules.map(({ id, severity, suggestion }) => `- \`${id}\` (${severity}): ${suggestion}`);
  return [`## ${kind}`, '', about, '', ...lines, ''];
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
