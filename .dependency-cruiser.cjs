const { existsSync, readdirSync, readFileSync } = require('node:fs');
const path = require('node:path');

/**
 * The direction of imports (docs/architecture, Rooms): platform <- lower features <- higher features, type-only imports
 * included. Each feature declares its level in its main file, as `@level 4`. test/architecture.spec.ts runs these rules,
 * and shows on a planted tree that they can fail.
 */

const FEATURES = path.join(__dirname, 'src/features');

/** The declared level of a feature; 0 where it declares none. */
function levelOf(feature) {
  const declared = [`${feature}.module.ts`, `${feature}.ts`]
    .map((file) => path.join(FEATURES, feature, file))
    .filter((file) => existsSync(file))
    .map((file) => /^(?:\/\*\*| \*) @level (\d+)\b/m.exec(readFileSync(file, 'utf8'))?.[1]);
  return Number(declared.find(Boolean) ?? 0);
}

/** Lowest first. A feature imports only from lower levels; features on one level do not import each other. */
const LEVELS = [];
for (const feature of readdirSync(FEATURES)) {
  const level = levelOf(feature);
  if (level > 0) (LEVELS[level - 1] ??= []).push(feature);
}

const folders = (features) => `^src/features/(${features.join('|')})/`;

const downwards = LEVELS.flatMap((features, level) => ({
  name: `features-level-${level + 1}-import-only-lower-ones`,
  comment: 'What would be a cycle is an event, or a third word is missing from the model.',
  severity: 'error',
  from: { path: folders(features) },
  to: { path: folders(LEVELS.slice(level).flat()), pathNot: '^src/features/$1/' },
}));

/**
 * What the processes that draft and the verifier, which runs without the service, share with other features. They load it alone: a
 * door would load half the service into each.
 */
const FACTS = [
  'audit/halt-proof',
  'connectors/operation',
  'records/signal-types',
  'standing-orders/(decision-input|evaluate|orders-for|standing-order|uses-of-order|windows)',
  'terms/(action-hashes|terms|tool-names)',
  'verifier/(report-proof|verifier)',
  'webhooks/destination-name',
].map((file) => `^src/features/${file}\\.ts$`);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...downwards,
    {
      name: 'every-feature-has-a-level',
      comment: 'Declare it in the main file of the feature: /** @level 4 */',
      severity: 'error',
      from: { path: '^src/features/', pathNot: folders(LEVELS.flat()) },
      to: {},
    },
    {
      name: 'features-have-one-door',
      comment: 'Outside a feature only its index.ts is imported.',
      severity: 'error',
      from: { path: '^src/features/([^/]+)/' },
      to: { path: '^src/features/[^/]+/(?!index\\.ts$)', pathNot: ['^src/features/$1/', ...FACTS] },
    },
    {
      name: 'the-application-comes-by-the-doors',
      comment: 'As features do; a file of connectors is checked before anything else is loaded.',
      severity: 'error',
      from: { path: '^src/[^/]+$' },
      to: { path: '^src/features/[^/]+/(?!index\\.ts$)', pathNot: '/connectors/load-connectors\\.ts$' },
    },
    {
      name: 'platform-knows-no-feature',
      comment: 'No business word in src/platform.',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/(?!platform/)' },
    },
    {
      name: 'features-know-no-application',
      comment: 'app.module.ts and main.ts import features, never back.',
      severity: 'error',
      from: { path: '^src/features/' },
      to: { path: '^src/[^/]+$' },
    },
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-hole-in-the-graph',
      comment:
        'An import of our own that is not found would escape the other rules; packages are up to the compiler.',
      severity: 'error',
      from: {},
      to: { path: '^\\.', couldNotResolve: true },
    },
    {
      name: 'the-service-needs-no-development-dependency',
      comment: 'A deployment is installed without them.',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'the-service-needs-no-test-or-tool',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(test|bench|scripts)/' },
    },
  ],
  options: {
    // Our own clients are packages like others; what they are built of is their business.
    doNotFollow: { path: ['node_modules', '^clients/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
