import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { type MailServer, startMailServer } from '../e2e/mail/mail-server.js';
import { freePort } from '../support/machine-postgres.js';
import { ServiceProcess } from '../support/processes.js';
import { allFound, programPath } from '../support/programs.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const run = promisify(execFile);
/** What stands in the packages of these tests alone. */
const load = (name: string) => import(name);
const ROOT = join(import.meta.dirname, '../..');
const CHART = join(ROOT, 'deploy/helm');
const read = (file: string) => readFile(join(CHART, file), 'utf8');
const BIN = join(import.meta.dirname, 'node_modules/.bin');
const helm = programPath('helm');

interface Document {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: any;
}
type Values = Record<string, unknown>;

const RELEASE = { Name: 'demo', Namespace: 'assistants', Service: 'Helm' };
const documentsOf = (yaml: string) =>
  parseAllDocuments(yaml)
    .map((document) => document.toJS() as Document | null)
    .filter((document) => document !== null);
const values = parse(await read('values.yaml'));
const chart = parse(await read('Chart.yaml'));
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

/** The chart's template, by an implementation of Go's templates and of the functions that Helm adds to them. */
async function render(file: string, changed: Values = {}): Promise<string> {
  const go = await load('@promptctl/go-template-js');
  const funcs = Object.assign(
    {},
    ...[go.sprigDefaults, go.sprigStrings, go.sprigLists, go.sprigMath].map((of) => of()),
  );
  const engine = go.createEngine({ fromString: (text: string) => text, funcs });
  const Chart = { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion };
  const scope = { Release: RELEASE, Chart, Values: { ...values, ...changed } };
  return engine
    .parse(await read(file))
    .evaluate(scope)
    .join('');
}

/** The chart as it is with these values in place of its own, in the order of its files. */
async function documents(changed: Values = {}): Promise<Document[]> {
  const rendered: Document[] = [];
  for (const file of globSync('templates/*.yaml', { cwd: CHART }).toSorted()) {
    const text = await render(file, changed);
    expect(text).not.toContain('<no value>');
    rendered.push(...documentsOf(text));
  }
  return rendered;
}

const CHANGED: Values = {
  image: { repository: 'registry.example.com/consigliere', tag: '1.2.3' },
  env: { MAIL_FROM: 'Ada "the first" <ada@example.org>', MODEL_NAME: 'a: b # c', BOOTSTRAP_WORKSPACE: '007' },
  preStopSeconds: 12,
  api: { replicas: 5 },
  worker: { replicas: 1 },
};
const named = (all: Document[], kind: string, name: string) =>
  all.find((document) => document.kind === kind && document.metadata.name === name)!;
const containerOf = (deployment: Document) => deployment.spec.template.spec.containers[0];

describe('the Helm chart', () => {
  it('has the version of the project', () => {
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
  });

  it('describes two Deployments with a disruption budget each, and a Service of the api alone', async () => {
    const all = await documents();
    expect(all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Deployment demo-api',
      'PodDisruptionBudget demo-api',
      'Deployment demo-worker',
      'PodDisruptionBudget demo-worker',
      'Service demo',
    ]);
    for (const name of ['demo-api', 'demo-worker']) {
      const { spec } = named(all, 'Deployment', name);
      const { labels } = spec.template.metadata;
      expect(labels).toMatchObject(spec.selector.matchLabels);
      const budget = named(all, 'PodDisruptionBudget', name).spec;
      expect(budget).toEqual({ maxUnavailable: 1, selector: spec.selector });
      expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    }
    const service = named(all, 'Service', 'demo').spec;
    const api = named(all, 'Deployment', 'demo-api').spec.template.metadata.labels;
    const worker = named(all, 'Deployment', 'demo-worker').spec.template.metadata.labels;
    expect(api).toMatchObject(service.selector);
    expect(worker).not.toMatchObject(service.selector);
  });

  it('lets a pod of the api take requests until it is out of the Service, and each end in time', async () => {
    const all = await documents(CHANGED);
    const api = named(all, 'Deployment', 'demo-api').spec.template.spec;
    expect(api.containers[0].lifecycle.preStop.exec.command).toEqual(['sleep', '12']);
    expect(api.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(12 + 30);
    const worker = containerOf(named(all, 'Deployment', 'demo-worker'));
    expect(worker.lifecycle).toBeUndefined();
  });

  it('passes text on as it is, whatever is in it', async () => {
    const container = containerOf(named(await documents(CHANGED), 'Deployment', 'demo-api'));
    const given = Object.fromEntries(container.env.map((one: any) => [one.name, one.value]));
    expect(given).toMatchObject(CHANGED['env'] as object);
    expect(container.image).toBe('registry.example.com/consigliere:1.2.3');
    for (const { value } of container.env) expect(value).toBeTypeOf('string');
  });

  it.each([{}, CHANGED])('is what Kubernetes takes: every name and type, with %o', async (changed) => {
    const all = await documents(changed);
    for (const document of all) {
      const { apiVersion, kind } = document;
      const models = await load(`kubernetes-models/${apiVersion}`);
      new models[kind](document).validate();
    }
    const typed = (rendered: Document[]) =>
      rendered
        .map(({ apiVersion, kind, ...rest }, index) => {
          const source = JSON.stringify({ apiVersion, kind, ...rest });
          return `import type { I${kind} as T${index} } from 'kubernetes-models/${apiVersion}';\nexport const d${index}: T${index} = ${source};`;
        })
        .join('\n');
    expect(await typeFaults(typed(all))).toBe('');
    const misspelt = typed(all).replace('"readinessProbe"', '"readinesProbe"');
    expect(await typeFaults(misspelt)).toContain('readinesProbe');
  });

  it('refuses values that it would not use, or that it sets itself', async () => {
    const check = new Ajv({ strict: false }).compile(JSON.parse(await read('values.schema.json')));
    const accepts = (changed: Values) => check({ ...values, ...changed });
    expect([accepts({}), accepts(CHANGED)]).toEqual([true, true]);
    expect([
      accepts({ replicas: 2 }),
      accepts({ env: { TRUST_PROXY: 1 } }),
      accepts({ env: { PROCESS_ROLE: 'all' } }),
      accepts({ api: { replicas: 0 } }),
      accepts({ image: {} }),
    ]).toEqual([false, false, false, false, false]);
  });

  it('says what to do next', async () => {
    const notes = await render('templates/NOTES.txt');
    expect(notes).toContain(
      'kubectl exec --namespace assistants deploy/demo-api -- node dist/scripts/recover.js',
    );
    expect(await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8')).toContain('./dist/scripts/recover.js');
  });

  it.skipIf(!allFound('the chart in Helm itself', { helm }))('is the same to Helm', async () => {
    await run(helm!, ['lint', '--strict', CHART]);
    const folder = await mkdtemp(join(tmpdir(), 'consigliere-chart-'));
    for (const changed of [{}, CHANGED]) {
      const file = join(folder, 'values.json');
      // Helm merges maps; a null takes a value out.
      const given = {
        ...changed,
        ...('env' in changed && { env: { ...unset(values.env), ...(changed['env'] as object) } }),
      };
      await writeFile(file, JSON.stringify(given));
      const flags = ['--namespace', RELEASE.Namespace, '--values', file];
      const { stdout } = await run(helm!, ['template', RELEASE.Name, CHART, ...flags]);
      const key = ({ kind, metadata }: Document) => `${kind} ${metadata.name}`;
      const sorted = (all: Document[]) => all.toSorted((one, two) => (key(one) < key(two) ? -1 : 1));
      const own = await documents({
        ...changed,
        ...('api' in changed && {
          api: { ...values.api, ...(changed['api'] as object) },
          worker: { ...values.worker, ...(changed['worker'] as object) },
        }),
      });
      expect(sorted(documentsOf(stdout))).toEqual(sorted(own));
    }
    await rm(folder, { recursive: true, force: true });
  });
});

const unset = (one: object) => Object.fromEntries(Object.keys(one).map((name) => [name, null]));

/** What TypeScript says of a file that imports from the packages of these tests. */
async function typeFaults(source: string): Promise<string> {
  const folder = await mkdtemp(join(import.meta.dirname, 'node_modules/.typed-'));
  try {
    const file = join(folder, 'rendered.ts');
    await writeFile(file, source);
    const flags = ['--noEmit', '--ignoreConfig', '--strict', '--skipLibCheck', '--module', 'nodenext'];
    const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), [...flags, file]).catch(
      (error) => error,
    );
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('the processes of the Helm chart', () => {
  let database: TestDatabase;
  let mail: MailServer;
  let folder: string;
  const processes: ServiceProcess[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    mail = await startMailServer();
    folder = await mkdtemp(join(tmpdir(), 'consigliere-chart-'));
  });
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.kill()));
    await Promise.all([database?.drop(), mail?.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  it('start with what the chart tells them, answer its probes, and end at SIGTERM', async () => {
    const all = await documents();
    const secret = {
      DATABASE_URL: database.url,
      SECRETS_KEY: randomBytes(32).toString('base64'),
      SMTP_URL: mail.url,
    };
    for (const role of ['api', 'worker']) {
      const container = containerOf(named(all, 'Deployment', `demo-${role}`));
      const told: Record<string, string> = Object.fromEntries(
        container.env.map((one: any) => [one.name, one.value]),
      );
      expect(told).toMatchObject({ NODE_ENV: 'production', PROCESS_ROLE: role });
      // The addresses and the folder of a container, on this machine.
      const ports: Record<string, number> = { http: await freePort(), metrics: await freePort() };
      for (const { name, containerPort } of container.ports)
        expect(String(containerPort)).toBe(told[name === 'http' ? 'PORT' : 'METRICS_PORT']);
      expect(container.volumeMounts.map((one: any) => one.mountPath)).toContain(told['DATA_DIR']);
      const here = {
        HOST: '127.0.0.1',
        PORT: String(ports['http']),
        METRICS_PORT: String(ports['metrics']),
        DATA_DIR: folder,
      };
      processes.push(await ServiceProcess.start({ ...told, ...secret, ...here }));
      for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
        const { path, port } = container[probe].httpGet;
        const answer = await fetch(`http://127.0.0.1:${ports[port]}${path}`);
        expect([probe, answer.status]).toEqual([probe, 200]);
      }
      expect((await fetch(`http://127.0.0.1:${ports['metrics']}/metrics`)).status).toBe(200);
    }
    expect(await Promise.all(processes.map((one) => one.stop()))).toEqual([0, 0]);
    expect(processes.map(({ errors }) => errors)).toEqual(['', '']);
  });
});

describe('the workflow for GitHub', () => {
  const validate = (file: string) => run(join(BIN, 'action-validator'), [file]);
  const workflow = join(ROOT, '.github/workflows/ci.yml');

  it('is what GitHub takes', async () => {
    await validate(workflow);
    const folder = await mkdtemp(join(tmpdir(), 'consigliere-workflow-'));
    const wrong = join(folder, 'wrong.yml');
    await writeFile(wrong, (await readFile(workflow, 'utf8')).replace('runs-on:', 'run-on:'));
    await expect(validate(wrong)).rejects.toMatchObject({ stderr: expect.stringContaining('run-on') });
    await rm(folder, { recursive: true, force: true });
  });
});
