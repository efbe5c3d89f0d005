/**
 * The direction of imports (docs/architecture, Module graph): platform <- lower features <- higher features, type-only
 * imports included. test/architecture.spec.ts runs these rules, and shows on a planted tree that they can fail.
 */

/** Lowest first. A feature imports only from lower lines; features on one line do not import each other. */
const LEVELS = [
  ['terms'],
  ['workspaces', 'audit', 'events'],
  ['standing-orders', 'signals', 'revenue', 'documents', 'mail', 'connectors'],
  ['guardian', 'partner', 'webhooks'],
  ['capos'],
  ['approvals'],
  ['directives'],
  ['consigliere', 'agents'],
  ['context', 'reports', 'kpi', 'metrics', 'bootstrap', 'retention'],
  ['admin'],
];

const folders = (features) => `^src/features/(${features.join('|')})/`;

const downwards = LEVELS.map((features, level) => ({
  name: `features-level-${level + 1}-import-only-lower-ones`,
  comment: 'What would be a cycle is an event, or a third word is missing from the model.',
  severity: 'error',
  from: { path: folders(features) },
  to: { path: folders(LEVELS.slice(level).flat()), pathNot: '^src/features/$1/' },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...downwards,
    {
      name: 'every-feature-has-a-level',
      comment: 'Add the new feature to LEVELS.',
      severity: 'error',
      from: { path: '^src/features/', pathNot: folders(LEVELS.flat()) },
      to: {},
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
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
