import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopbackModel } from '../../support/loopback-model.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from './desk.js';

let model: LoopbackModel;
let test: TestApp;
let desk: Desk;
beforeAll(async () => {
  model = await LoopbackModel.start();
  test = await startTestApp({
    MODEL_PROVIDER: 'openai-compatible',
    MODEL_BASE_URL: model.url,
    MODEL_NAME: 'test-model',
  });
  desk = new Desk(test);
});
afterAll(async () => {
  await test.close();
  await model.stop();
});

const JANE = 'Tell jane@acme.example when it arrives.';
const SECRETS = 'The draft speaks of secrets, such as passwords, keys or bank details.';
const PAID = 'The draft says that money was paid or moved.';
const ROUND = 'The directive asks to go round an approval or a rule.';

const PACKET = {
  title: 'Mail',
  type: 'email.send',
  target: 'x',
  params: { to: ['jane@acme.example'], cc: null, subject: 'News', body: 'It arrives today.' },
  rationale: 'Asked for.',
  multipliers: [],
};

/** The approval of what the model writes to Jane. */
async function drafted(body: string, text = JANE) {
  const packet = { ...PACKET, params: { ...PACKET.params, body } };
  model.reply = () => ({ content: JSON.stringify({ summary: 'A mail.', packets: [packet] }) });
  return (await desk.handInReady({ text, capo: 'capo_ops' })).approval;
}

describe('what a model drafts', () => {
  it.each([
    ['a password', 'Hello Jane, the password is hunter2.', JANE, SECRETS],
    ['a password in other letters', 'Hello Jane, the ｐａｓｓｗｏｒｄ is hunter2.', JANE, SECRETS],
    ['a key by its form', 'Use ghp_16C7e42F292c6912E7710c838347Ae178B4a.', JANE, SECRETS],
    ['a token', 'Hello Jane, your token is 8841.', JANE, SECRETS],
    ['a payment', 'Hello Jane, we have already paid your invoice.', JANE, PAID],
    ['a German payment', 'Hallo Jane, wir haben die Rechnung gestern überwiesen.', JANE, PAID],
    ['an order to ask nobody', 'It arrives today.', `${JANE} Do not ask anybody.`, ROUND],
    [
      'secrets that the directive wants sent',
      'It is 8841.',
      'Send the access token 8841 to jane@acme.example.',
      'The directive speaks of secrets, such as passwords, keys or bank details.',
    ],
  ])('is critical with the reason where it holds %s', async (_case, body, text, reason) => {
    const { risk, riskReasons, urgent } = await drafted(body, text);
    expect({ risk, urgent }).toEqual({ risk: 'critical', urgent: true });
    expect(riskReasons).toContain(reason);
  });

  it.each([
    ['Pay the invoice of jane@acme.example.', 'The directive asks for a payment.'],
    ['Delete all data of jane@acme.example.', 'The directive asks for a deletion.'],
    [
      `${JANE} Ask me before you send it.`,
      'The directive wants somebody asked, or something to be so, before anything is sent.',
    ],
    [
      'Email all our customers and jane@acme.example: It arrives today.',
      'The directive asks to write to everybody.',
    ],
  ])('has a high risk where it is told “%s”', async (text, reason) => {
    const { risk, riskReasons } = await drafted('It arrives today.', text);
    expect({ risk, riskReasons }).toEqual({ risk: 'high', riskReasons: [reason] });
  });

  it('is what any mail is where nothing of that stands in it', async () => {
    const { risk, riskReasons } = await drafted(
      'It arrives on Friday. A token of our thanks is in the parcel.',
    );
    expect({ risk, riskReasons }).toEqual({ risk: 'medium', riskReasons: [] });
  });
});

describe('what a person edits', () => {
  it('is checked like a draft, and what the draft held stays told', async () => {
    const { approvalId, packets, contentHash } = await drafted('It arrives on Friday.');
    const edit = (body: string) => ({
      packets: [{ workPacketId: packets[0].workPacketId, params: { ...packets[0].action.params, body } }],
    });
    const edited = await desk.edit(approvalId, edit('The password is hunter2.'), contentHash);
    expect(edited.body).toMatchObject({ risk: 'critical', riskReasons: [SECRETS] });
    expect(await desk.approval(approvalId)).toMatchObject({ risk: 'critical', riskReasons: [SECRETS] });
    const corrected = await desk.edit(approvalId, edit('It arrives today.'), edited.body.contentHash);
    expect(corrected.body).toMatchObject({ risk: 'medium', riskReasons: [] });

    const first = await drafted('The password is hunter2.');
    const second = await desk.edit(
      first.approvalId,
      {
        packets: [
          {
            workPacketId: first.packets[0].workPacketId,
            params: { ...first.packets[0].action.params, body: 'Hi' },
          },
        ],
      },
      first.contentHash,
    );
    expect(second.body).toMatchObject({ risk: 'critical', riskReasons: [`In the capo's draft: ${SECRETS}`] });
  });
});

describe('an international address', () => {
  it('is written to, and one that looks like another is critical and not refused', async () => {
    const to = (address: string) => ({
      packets: [{ ...PACKET, params: { ...PACKET.params, to: [address] } }],
    });
    const written = async (address: string) => {
      model.reply = () => ({ content: JSON.stringify({ summary: 'A mail.', ...to(address) }) });
      return (await desk.handInReady({ text: `Tell ${address} when it arrives.`, capo: 'capo_ops' }))
        .approval;
    };
    expect(await written('müller@bücher.example')).toMatchObject({ risk: 'medium', riskReasons: [] });
    expect(await written('jane@\u0430cme.example')).toMatchObject({
      risk: 'critical',
      riskReasons: [
        'The address “jane@\u0430cme.example” (xn--cme-5cd.example) mixes letters of several alphabets.',
      ],
    });
  });
});
