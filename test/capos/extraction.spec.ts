import { describe, expect, it } from 'vitest';
import { addressedIn } from '../../src/features/capos/builtin/addressing.js';
import { addressName } from '../../src/features/capos/builtin/addressee.js';
import { calendarOf, findDates } from '../../src/features/capos/builtin/calendar.js';
import { pointsOf } from '../../src/features/capos/builtin/mail-content.js';
import { findMoney, spokenMoney } from '../../src/features/capos/builtin/money.js';
import { knownPeople, resolve } from '../../src/features/capos/builtin/recipients.js';
import { turnedToReader } from '../../src/features/capos/builtin/reported-speech.js';
import { withSpokenDates } from '../../src/features/capos/builtin/spoken-dates.js';
import { NOW } from './briefings.js';

describe('money', () => {
  it.each([
    ['1.200,50 EUR', 1200.5, 'EUR'],
    ['$1,200', 1200, 'USD'],
    ['€500', 500, 'EUR'],
    ['EUR 1.2m for the year', 1_200_000, 'EUR'],
    ['1 200,50 €', 1200.5, 'EUR'],
    ['CHF 1’200.50', 1200.5, 'CHF'],
    ['10% off 50 euros', 50, 'EUR'],
    ['1.234.567,89 EUR', 1_234_567.89, 'EUR'],
    ['0.5k USD', 500, 'USD'],
    ['USD 500 for the plan', 500, 'USD'],
    ['A$20', 20, 'AUD'],
    ['order #4512 costs 90 GBP', 90, 'GBP'],
    ['JPY 12000', 12_000, 'JPY'],
    ['2k', 2000, null],
  ])('is read from "%s"', (text, amount, currency) => {
    expect(findMoney(text)).toMatchObject([{ amount, currency }]);
  });

  it.each([
    '3 boxes',
    '2026-12-01',
    'at 12:30',
    'v1.2.3',
    'call +49 170 1234567',
    '5 m away',
    '90 min',
    '10 %',
    '500 all of it',
    'abc1 EUR',
  ])('is not seen in "%s"', (text) => {
    expect(findMoney(text)).toEqual([]);
  });

  it('finds every sum and where it stands', () => {
    expect(findMoney('pay 1,50 € or 1.50 $').map(({ text, index }) => [text, index])).toEqual([
      ['1,50 €', 4],
      ['1.50 $', 14],
    ]);
  });

  it('is spoken the same everywhere', () => {
    expect([spokenMoney(1200, 'EUR'), spokenMoney(0.5, 'USD')]).toEqual(['EUR 1,200', 'USD 0.50']);
  });
});

describe('dates', () => {
  const calendar = calendarOf(NOW, 'Europe/Berlin', 'en-GB');

  it.each([
    ['the order arrives tomorrow', 'the order arrives on Friday, 4 December'],
    ['tomorrow is fine', 'Friday, 4 December is fine'],
    ['by tomorrow', 'by Friday, 4 December'],
    ['on Friday', 'on Friday, 4 December'],
    ['next Friday', 'on Friday, 11 December'],
    ['Friday next week', 'on Friday, 11 December'],
    ['on Thursday', 'on Thursday, 10 December'],
    ['last Friday', 'on Friday, 27 November'],
    ["tomorrow's call", "Friday's call"],
    ['the Friday call', 'the Friday call'],
    ['every Monday', 'every Monday'],
    ['meet tomorrow morning at 9', 'meet on Friday morning (4 December) at 9'],
    ['dinner tonight', 'dinner on Thursday evening (3 December)'],
    ['from Monday to Wednesday', 'from Monday, 7 December to Wednesday, 9 December'],
    ['by the end of the month', 'by the end of the month (Thursday, 31 December)'],
    ['by EOD', 'by EOD (Thursday, 3 December)'],
    ['next month', 'next month (January 2027)'],
    ['next week is busy', 'next week (from Monday, 7 December) is busy'],
    ['in two weeks', 'in two weeks (Thursday, 17 December)'],
    ['2026-12-01', 'Tuesday, 1 December'],
    ['on 01.12.2026', 'on Tuesday, 1 December'],
    ['12/01/2026', 'Monday, 12 January'],
    ['Friday, 4 December', 'Friday, 4 December'],
    ['2026-02-30', '2026-02-30'],
  ])('"%s" becomes "%s"', (text, spoken) => {
    expect(withSpokenDates(text, calendar)).toBe(spoken);
  });

  it.each([
    ['1 December', '2026-12-01'],
    ['20 November', '2026-11-20'],
    ['May 5', '2027-05-05'],
    ['December 1st, 2028', '2028-12-01'],
  ])('without a year "%s" is the nearest such day', (text, date) => {
    expect(findDates(text, calendar).map((found) => found.date.toString())).toEqual([date]);
  });

  it("follow the workspace's zone over midnight", () => {
    const late = Date.UTC(2026, 11, 3, 23, 30);
    const day = (zone: string) => findDates('today', calendarOf(late, zone, 'en-GB'))[0]?.date.toString();
    expect([day('Europe/Berlin'), day('America/New_York'), day('Nowhere/Atlantis')]).toEqual([
      '2026-12-04',
      '2026-12-03',
      '2026-12-03',
    ]);
  });

  it('read slashes as the reader of the workspace does', () => {
    const american = calendarOf(NOW, 'America/New_York', 'en-US');
    expect(withSpokenDates('12/01/2026', american)).toBe('Tuesday, 1 December');
    expect(withSpokenDates('25/12/2026', american)).toBe('Friday, 25 December');
  });
});

describe('who is addressed', () => {
  const read = (text: string) => {
    const { to, content } = addressedIn(text);
    return [to.map(({ name, email, generic }) => email ?? (generic ? 'kind' : name)), content];
  };

  it.each([
    ['Ada about the demo', ['Ada'], 'about the demo'],
    ['Ada Lovelace (ada@example.com) that it ships', ['ada@example.com'], 'that it ships'],
    ['Ada from Acme about the demo', ['Ada'], 'about the demo'],
    ['ada@x.com, bob@y.com and Carol whether', ['ada@x.com', 'bob@y.com', 'Carol'], 'whether'],
    ['Ada, and ask whether', ['Ada'], 'and ask whether'],
    ['them that we moved', ['kind'], 'that we moved'],
    ['our customers about the price', ['kind'], 'about the price'],
    ['the customers on the waiting list that we open', ['kind'], 'that we open'],
    ['all customers about', ['kind'], 'about'],
    ['our supplier Miller GmbH (a@miller.de) that', ['a@miller.de'], 'that'],
    ["Bob's complaint saying that", ['Bob'], 'saying that'],
    ['ada about the invoice', ['Ada'], 'about the invoice'],
    ['Ada Friday works', ['Ada'], 'Friday works'],
    ['about pricing to bob@x.com', [], 'about pricing to bob@x.com'],
  ])('in "%s"', (text, to, content) => {
    expect(read(text)).toEqual([to, content]);
  });

  it.each([
    [{ name: 'Ada Lovelace', email: 'x@y.com' }, 'Ada'],
    [{ name: 'Dr. Smith', email: 'x@y.com' }, 'Dr. Smith'],
    [{ name: 'Fast Courier', email: 'x@y.com' }, 'Fast Courier'],
    [{ name: null, email: 'ada.lovelace@y.com' }, 'Ada'],
    [{ name: null, email: 'jsmith@y.com' }, null],
    [{ name: null, email: 'sales.team@y.com' }, null],
  ])('%j is greeted as %s', (person, name) => {
    expect(addressName(person)).toBe(name);
  });
});

describe('where they are reached', () => {
  const buyers = [
    {
      buyerId: 'b1',
      segment: null,
      stage: null,
      confidence: null,
      topGap: null,
      updatedAt: 0,
      name: 'Acme',
      email: 'jo@acme.com',
    },
  ];
  const found = (text: string, context: Record<string, unknown> | null, profiles = buyers) => {
    const { people, missing } = resolve(addressedIn(text).to, knownPeople(context, profiles));
    return [...people.map(({ email }) => email), ...missing.map((one) => `? ${one.text}`)];
  };

  it.each([
    ['Ada', { to: 'ada@x.com' }, ['ada@x.com']],
    ['Ada', { to: { name: 'Ada King', email: 'ada@x.com' } }, ['ada@x.com']],
    ['Ada', { customer: { firstName: 'Ada', lastName: 'King', email: 'a@x.com' } }, ['a@x.com']],
    ['Ada', { customer: { name: 'Bob', email: 'bob@x.com' } }, ['? Ada']],
    ['Ada', { contacts: ['Ada King <a@x.com>', 'Bob <b@x.com>'] }, ['a@x.com']],
    ['Ada', { note: 'write to eve@evil.example' }, ['? Ada']],
    ['Ada', { name: 'Ada King', email: 'a@x.com' }, ['a@x.com']],
    ['Acme', null, ['jo@acme.com']],
    ['Globex', null, ['? Globex']],
    ['them', { recipients: ['a@x.com', 'b@x.com'] }, ['a@x.com', 'b@x.com']],
    ['him', { recipients: ['a@x.com', 'b@x.com'] }, ['? him']],
    ['the buyer', null, ['jo@acme.com']],
    ['ada@x.com', { to: 'bob@x.com' }, ['ada@x.com']],
  ])('%s in %j', (text, context, expected) => {
    expect(found(text, context)).toEqual(expected);
  });
});

describe('reported speech', () => {
  const turned = (text: string) => turnedToReader(text, { names: ['Ada'], plural: false });

  it.each([
    ['her order ships and we will send her the code', 'your order ships and we will send you the code'],
    ['she is late', 'you are late'],
    ['whether she still needs the parts', 'whether you still need the parts'],
    ['whether she agrees and signs the contract', 'whether you agree and sign the contract'],
    ['he has to pay his invoice', 'you have to pay your invoice'],
    ['is she free', 'are you free'],
    ["she's been selected", "you've been selected"],
    ['they can join and bring their team', 'you can join and bring your team'],
    ['the order is theirs', 'the order is yours'],
    ['send her updates', 'send you updates'],
    ['send her invoice', 'send your invoice'],
    ['Ada’s order is ready', 'Your order is ready'],
    ['the Berlin office received his order', 'the Berlin office received your order'],
    ['you asked for her number', 'you asked for her number'],
  ])('"%s" is told as "%s"', (clause, expected) => {
    expect(turned(clause)).toMatchObject({ text: expected, unclear: [] });
  });

  it.each([
    ['Bob sent his invoice', 'his'],
    ['the driver lost his phone', 'his'],
    ['the parts are late because they failed', 'they'],
  ])('leaves a pronoun that may mean somebody else: "%s"', (clause, pronoun) => {
    expect(turned(clause)).toMatchObject({ text: clause, unclear: [pronoun] });
  });
});

describe('what a mail is to say', () => {
  const points = (content: string, manner: Parameters<typeof pointsOf>[1] = 'tell') =>
    pointsOf(content, manner).map(({ act, text }) => `${act}: ${text}`);

  it.each([
    ['that it ships and ask whether Friday works', ['state: it ships', 'question: Friday works']],
    ['that the price stays and the demo moves', ['state: the price stays and the demo moves']],
    ['about the delay, thank her for waiting', ['inform-of: the delay', 'thank: waiting']],
    ['to sign and confirm the date', ['request: sign and confirm the date']],
    ['to sign and ask him whether it arrived', ['request: sign', 'question: it arrived']],
    ['let her know that we moved, and apologise for the noise', ['state: we moved', 'apologise: the noise']],
  ])('in "%s"', (content, expected) => {
    expect(points(content)).toEqual(expected);
  });

  it('takes a thing for something to hand over, and a sentence for something to say', () => {
    expect(points('the release notes', 'write')).toEqual(['share: the release notes']);
    expect(points('the demo moved to Friday', 'write')).toEqual(['state: the demo moved to Friday']);
    expect(points('the newsletter announcing that we open', 'share')).toEqual(['announce-that: we open']);
  });
});
