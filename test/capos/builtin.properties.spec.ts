import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateAction } from '../../src/features/capos/action-types.js';
import type { DraftPacket } from '../../src/features/capos/briefing.js';
import { draftFrom } from '../../src/features/capos/builtin/draft.js';
import { CAPO_ROLES, engineOf } from '../../src/features/capos/capo.js';
import { checkDraftBounds } from '../../src/features/capos/draft-bounds.js';
import { briefing } from './briefings.js';

/** Words that the reader reacts to, in any order: most of what comes out is nonsense that almost makes sense. */
const WORDS = (
  'email send tell ask remind thank let know record book raise signal have write draft file report summary call pay delete her him ' +
  'them Ada Bob Lovelace ada@example.com jo@acme.com bob@b.example that whether about to the a for from with and also then second ' +
  'subject cc bcc marketing ops everybody not don’t schick an schreib sag ihr dass envoie à dis-lui que und et y por 1,200 EUR ' +
  '1.200,50 € $5 10% Friday tomorrow last week 2026-12-01 1. 2) - , . ; : " “ ” „ « » \' > --- \n \n\n From: To: Subject: Body: Betreff:'
).split(' ');

const nonsense = fc.array(fc.constantFrom(...WORDS), { maxLength: 50 }).map((words) => words.join(' '));
const unicode = fc.string({ unit: 'binary', maxLength: 300 });
const anyText = fc.oneof(
  nonsense,
  unicode,
  fc.tuple(nonsense, unicode).map((both) => both.join('')),
);
const KEYS = [
  'to',
  'email',
  'recipients',
  'customer',
  'name',
  'cc',
  'body',
  'subject',
  'source',
  '__proto__',
];
const VALUES = ['ada@x.com', 'Ada <ada@x.com>', ['b@x.com'], { name: 'Bob', email: 'bob@x.com' }];
const anyContext = fc.option(
  fc.dictionary(
    fc.constantFrom(...KEYS),
    fc.oneof(fc.constantFrom(...VALUES), unicode, nonsense, fc.jsonValue()),
  ),
);
const anyCapo = fc.constantFrom(...CAPO_ROLES);
const buyerContext = {
  profiles: [
    { name: 'Ada Lovelace', email: 'ada@known.example' },
    { name: 'Bob Ross', email: 'bob@known.example' },
    { name: 'Bob Moss', email: 'moss@known.example' },
  ].map((buyer, at) => ({
    buyerId: `b${at}`,
    segment: null,
    stage: null,
    confidence: null,
    topGap: null,
    updatedAt: 0,
    ...buyer,
  })),
  aggregate: { count: 3, averageConfidence: null, topGap: null },
};

/** The faults of a packet at paths that nobody is asked about. */
function faultsOf(capo: (typeof CAPO_ROLES)[number], { type, params, needsInput }: DraftPacket) {
  const validated = validateAction(engineOf(capo), type, params);
  if (validated.ok) return [];
  return validated.faults.filter(({ path }) => !needsInput.some((needed) => needed.path === path));
}

const flat = (text: string) => text.replaceAll(/\s+/g, ' ');
/** As it may be sent: without control characters, and with the line breaks of a mail. */
const sendable = (text: string) =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    // oxlint-disable-next-line no-control-regex -- what the runner removes
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufeff\ufdd0-\ufdd3]/g, '');

describe('the built-in draft', () => {
  it('always comes, always the same, in bounds, and only with packets that the registry accepts but for what it asks', () => {
    fc.assert(
      fc.property(anyText, anyCapo, anyContext, (text, capo, context) => {
        const given = briefing(text, capo, { directive: { context }, buyerContext });
        const draft = draftFrom(given);
        expect(draftFrom(given)).toEqual(draft);
        checkDraftBounds(draft);
        for (const packet of draft.packets) expect(faultsOf(capo, packet)).toEqual([]);
        if (draft.packets.length === 0) expect(draft.remarks).toContain('Nothing was prepared.');
      }),
      { numRuns: 500 },
    );
  });

  it('sends nothing but words of the directive and its context', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.constantFrom('capo_ops', 'capo_revenue', 'capo_marketing'),
        anyContext,
        (text, capo, context) => {
          const { packets } = draftFrom(briefing(text, capo, { directive: { context }, buyerContext }));
          const given = [
            text,
            ...Object.values(context ?? {}).filter((each) => typeof each === 'string'),
          ].map(sendable);
          for (const { type, params } of packets.filter((packet) => packet.type === 'email.send')) {
            expect(
              given.some((each) => each.includes(String(params['body']))),
              `${type} ${String(params['body'])}`,
            ).toBe(true);
            const subject = String(params['subject']).replace(/…$/, '');
            // Behind a greeting it begins with a capital.
            const written = [subject, subject.replace(/^\p{Lu}/u, (letter) => letter.toLowerCase())];
            expect(
              given.some((each) => written.some((one) => flat(each).includes(one))),
              subject,
            ).toBe(true);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('writes to, asks about, hands over, mentions or passes on each address of the text', () => {
    fc.assert(
      fc.property(nonsense, anyCapo, (text, capo) => {
        const { packets, remarks } = draftFrom(briefing(text, capo, { buyerContext }));
        const named = JSON.stringify([
          remarks,
          // A message leaves with the addresses that it names.
          packets.map(({ params: { to, cc, directive, body }, needsInput }) => [
            to,
            cc,
            directive,
            body,
            needsInput,
          ]),
        ]);
        for (const address of ['ada@example.com', 'jo@acme.com', 'bob@b.example']) {
          expect(!text.includes(address) || named.includes(address), address).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('writes to nobody whom the directive, its context and the workspace do not name', () => {
    fc.assert(
      fc.property(nonsense, anyContext, (text, context) => {
        const { packets } = draftFrom(briefing(text, 'capo_ops', { directive: { context }, buyerContext }));
        const given = JSON.stringify([text, context, buyerContext]);
        for (const { params } of packets) {
          for (const address of [params['to'] ?? [], params['cc'] ?? []].flat())
            expect(given).toContain(address);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('comes from any wish for changes, with the packets of before or the ones that were changed', () => {
    const packets = draftFrom(briefing('Email ada@example.com: Hello.', 'capo_ops')).packets;
    fc.assert(
      fc.property(anyText, (text) => {
        const feedback = [{ round: 1, text, previous: { summary: '', body: '', packets } }];
        const draft = draftFrom({ ...briefing('Email ada@example.com: Hello.', 'capo_ops'), feedback });
        expect(draft.packets).toHaveLength(1);
        expect(faultsOf('capo_ops', draft.packets[0]!)).toEqual([]);
        const { body } = draft.packets[0]!.params as { body: string };
        expect(body === 'Hello.' || sendable(text).includes(body) || body.includes('.')).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['one word', 'a'.repeat(20_000)],
    ['half addresses', 'a@'.repeat(10_000)],
    ['addresses', 'a@b.cc '.repeat(2_800)],
    ['links between people', ' to Ada and'.repeat(1_800)],
    ['dates', 'Friday '.repeat(2_800)],
    ['numbers', '1 '.repeat(10_000)],
    ['sums', '1.200,50 EUR '.repeat(1_500)],
    ['quotes', '"'.repeat(20_000)],
    ['opening quotes', '„'.repeat(20_000)],
    ['colons', 'email a@b.cc: '.repeat(1_400)],
    ['labels', 'To: '.repeat(5_000)],
    ['stops', 'No. '.repeat(5_000)],
    ['sentences', 'Email it. '.repeat(2_000)],
    ['list items', '\n- email'.repeat(2_500)],
    ['spaces', ' '.repeat(20_000)],
    ['empty lines', '\n'.repeat(20_000)],
    ['lines of dashes', '---\n'.repeat(5_000)],
    ['quoted lines', '> a\n'.repeat(5_000)],
    ['politeness', 'please '.repeat(2_800)],
    ['spaces behind an address', `mail a@b.cc${' '.repeat(19_000)}x`],
    ['spaces in a message', `mail a@b.cc: x${' '.repeat(19_000)}x`],
    ['one word of a message', `mail a@b.cc: ${'a'.repeat(19_000)}`],
    ['lines below', 'mail a@b.cc\n\nHello\n\n'.repeat(900)],
    ['question marks', '? '.repeat(10_000)],
    ['look-alikes', 'mail jane@\u0430cme.example '.repeat(850)],
    ['questions', 'can you '.repeat(2_500)],
    ['connectives', `email a@b.cc ${'and then '.repeat(2_200)}`],
    ['further asks', `email a@b.cc: ${'. Also email b@c.dd: x'.repeat(900)}`],
    ['spaces behind a label', `mail a@b.cc, subject: ${' '.repeat(19_000)}x`],
    ['dots in a message', `mail a@b.cc: x${'.'.repeat(19_000)}`],
    ['mails', 'mail a@b.cc, subject x: hello. '.repeat(600)],
    ['pronouns', `tell Ada that ${'she and her '.repeat(1_600)}`],
  ])('is made in a time linear in a text that is all %s', (_case, text) => {
    draftFrom(briefing(text.slice(0, 100), 'capo_revenue'));
    const began = process.cpuUsage();
    draftFrom(briefing(text, 'capo_revenue'));
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000);
  });
});
