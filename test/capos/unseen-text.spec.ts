import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BuiltinRunner } from '../../src/features/capos/builtin-runner.js';
import { withDangers } from '../../src/features/capos/content-checks.js';
import { readAnswer } from '../../src/features/capos/model-output.js';
import { hasUnseen } from '../../src/platform/kernel/unseen.js';
import { briefing } from './briefings.js';

const TAGS = [...'guardian mode guardrailed']
  .map((one) => String.fromCodePoint(0xe0000 + one.codePointAt(0)!))
  .join('');
const CONCERN = { risk: 'critical', reason: 'The text contains characters that cannot be seen.' };
const REAL = 'Für Zoë 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣: می‌خواهم, שָׁלוֹם, नमस्ते क्‍ष, مرحبًا';

const answer = (params: object, packet: object = {}, more: object = {}) => ({
  summary: 'A mail is ready.',
  packets: [
    {
      title: 'Mail',
      type: 'email.send',
      target: 'jane@acme.example',
      params: {
        to: ['jane@acme.example'],
        cc: null,
        subject: 'Your parcel',
        body: 'It leaves today.',
        ...params,
      },
      rationale: 'Asked for.',
      multipliers: [],
      needsInput: [],
      ...packet,
    },
  ],
  ...more,
});

describe('the answer of a model with text that cannot be seen', () => {
  const MESSAGE = 'must not contain characters that cannot be seen';

  it.each<[string, object]>([
    ['packets.0.params.subject', answer({ subject: `Your parcel${TAGS}` })],
    ['packets.0.params.body', answer({ body: `It leaves today.${TAGS}` })],
    ['packets.0.params.body', answer({ body: 'invoice\u202efdp.exe' })],
    ['packets.0.params.body', answer({ body: '\u2066a\u2069' })],
    ['packets.0.params.body', answer({ body: 'pay\u200bpal' })],
    ['packets.0.title', answer({}, { title: `Mail${TAGS}` })],
    ['packets.0.target', answer({}, { target: `Jane\u200b` })],
    ['packets.0.rationale', answer({}, { rationale: `Asked${TAGS}` })],
    ['summary', answer({}, {}, { summary: `Ready${TAGS}` })],
    [
      'packets.0.needsInput.0.message',
      answer({ body: null }, { needsInput: [{ path: 'params.body', message: `What?${TAGS}` }] }),
    ],
    [
      'packets.0.params.title',
      answer({}, { type: 'document.file', params: { title: `Memo${TAGS}`, body: 'Late.' } }),
    ],
  ])('is refused at %s', (path, given) => {
    expect(readAnswer('ops', given)).toEqual({
      ok: false,
      faults: [expect.objectContaining({ path, message: MESSAGE })],
    });
  });

  it('is refused in what it posts, in names too', () => {
    const destination = { destinationId: `whk_${'a'.repeat(26)}`, description: '', url: 'https://x.example' };
    const post = (data: object) =>
      readAnswer(
        'ops',
        answer(
          {},
          {
            type: 'webhook.post',
            params: { destinationId: destination.destinationId, data: JSON.stringify(data) },
          },
        ),
        { destinations: [destination], operations: [] },
      );
    expect(post({ a: [{ b: `c${TAGS}` }] })).toMatchObject({
      faults: [{ path: 'packets.0.params.data.a.0.b', message: MESSAGE }],
    });
    expect(post({ a: { [`b${TAGS}`]: 1 } })).toMatchObject({ faults: [{ path: 'packets.0.params.data.a' }] });
    expect(post({ a: REAL })).toMatchObject({ ok: true });
  });

  it('is taken where emoji, scripts and hyphenation need it', () => {
    const given = answer({ subject: REAL, body: REAL }, { title: REAL, rationale: REAL }, { summary: REAL });
    expect(readAnswer('ops', given)).toMatchObject({
      ok: true,
      answer: { remarks: REAL, packets: [{ title: REAL, params: { subject: REAL, body: REAL } }] },
    });
  });
});

describe('the words of a person with text that cannot be seen', () => {
  let runner: BuiltinRunner;
  beforeAll(() => {
    runner = new BuiltinRunner();
  });
  afterAll(() => runner.onApplicationShutdown());
  const drafted = async (text: string, context: Record<string, unknown> | null = null) => {
    const work = briefing(text, 'capo_ops', { directive: { context } });
    return withDangers(await runner.run(work, { signal: new AbortController().signal }), work);
  };

  it('are drafted by the built-in runner as they are seen, and it is said', async () => {
    const said = `Send a mail to jane@acme.example: your parcel${TAGS} leaves \u202etoday.`;
    const { packets, concerns, remarks } = await drafted(said, { subject: `Parcel\u200b${TAGS}` });
    expect(packets).toMatchObject([
      {
        params: {
          to: ['jane@acme.example'],
          subject: 'Parcel',
          body: expect.stringContaining('parcel leaves today'),
        },
      },
    ]);
    expect(JSON.stringify({ packets, remarks })).toSatisfy((text: string) => !hasUnseen(text));
    expect(concerns).toContainEqual(CONCERN);
  });

  it('are nothing to fear where emoji, scripts and hyphenation need it', async () => {
    const { packets, concerns } = await drafted(`Send a mail to jane@acme.example: “${REAL}”`);
    expect(packets[0]!.params['body']).toContain(REAL);
    expect(concerns).not.toContainEqual(CONCERN);
  });

  it.each([
    briefing(`Write to jane@acme.example.${TAGS}`, 'capo_ops'),
    briefing('Write to her.', 'capo_ops', { directive: { context: { a: [{ b: `x${TAGS}` }] } } }),
    briefing('Write to her.', 'capo_ops', { feedback: [`Shorter${TAGS}`] }),
  ])('are critical whoever drafts', (work) => {
    expect(withDangers({ packets: [], concerns: [] }, work).concerns).toEqual([CONCERN]);
  });
});
