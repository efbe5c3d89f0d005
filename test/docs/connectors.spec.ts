import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/platform/config/config.js';
import { loadConnectors } from '../../src/features/connectors/load-connectors.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { Desk } from '../e2e/directives/desk.js';

const GUIDE = join(import.meta.dirname, '../../docs/guides/connectors.md');
const guide = await readFile(GUIDE, 'utf8');
const block = (language: string) => new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'm').exec(guide)![1]!;

let folder: string;
let file: string;
let test: TestApp;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consigliere-guide-'));
  file = join(folder, 'connectors.json');
  await writeFile(file, block('json connectors.json'));
  test = await startTestApp({ CONNECTORS_FILE: file, CRM_TOKEN: 'a-token-of-the-crm' });
});
afterAll(async () => {
  await test.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the guide to connectors', () => {
  it('has a file with which the service starts, and sentences that it understands', async () => {
    const sentence = /- `(Call create_contact[^`]+)`/.exec(guide)![1]!;
    const { approval } = await new Desk(test).handInReady({ text: sentence, capo: 'capo_ops' });
    expect(approval.packets).toMatchObject([
      {
        needsInput: [],
        action: {
          type: 'http.call',
          target: 'POST https://crm.example.com/api/v1/contacts',
          params: { arguments: { email: 'jane@acme.example', name: 'Jane Doe' } },
        },
      },
    ]);
  });

  it('has a standing order that is taken', async () => {
    const made = await test.owner.send('POST', '/standing-orders', block('json'));
    expect(made.status, made.text).toBe(201);
  });

  it('says what a fault looks like', async () => {
    const content = JSON.parse(block('json connectors.json'));
    content.connectors[0].operations[1].undo.params = {};
    await writeFile(file, JSON.stringify(content));
    const config = loadConfig({ CONNECTORS_FILE: file });
    expect(() => loadConnectors(config.connectorsFile!, config)).toThrow(
      block('text').trim().replace('/etc/consigliere/connectors.json', file),
    );
  });

  it('takes a secret from a file', async () => {
    const secret = join(folder, 'crm_token');
    await writeFile(secret, 'a-token-in-a-file\n');
    await writeFile(file, block('json connectors.json'));
    const config = loadConfig({ CONNECTORS_FILE: file, CRM_TOKEN_FILE: secret });
    const [crm] = loadConnectors(config.connectorsFile!, config);
    expect(crm!.headers['Authorization']).toBe('Bearer a-token-in-a-file');
  });
});
