import { describe, expect, it } from 'vitest';
import { validateAction } from '../../src/features/capos/action-types.js';
import { draftFrom, movesIn } from '../../src/features/capos/builtin/draft.js';
import { type CapoRole, engineOf } from '../../src/features/capos/capo.js';
import { withDangers } from '../../src/features/capos/content-checks.js';
import { DRAFT_BOUNDS } from '../../src/features/capos/draft-bounds.js';
import type { OutsideTargets } from '../../src/features/capos/outside-targets.js';
import { briefing } from './briefings.js';

type Changes = Parameters<typeof briefing>[2];
const JANE = 'jane@acme.example';
const BOB = 'bob@acme.example';

/** As the service checks every draft. */
const draft = (text: string, capo: CapoRole = 'capo_ops', changes: Changes = {}) => {
  const work = briefing(text, capo, changes);
  return withDangers(draftFrom(work), work);
};

/** What each work packet does, and the names of what is asked; the registry takes each but for that. */
function packets(text: string, capo: CapoRole = 'capo_ops', changes: Changes = {}) {
  return draft(text, capo, changes).packets.map(({ type, params, needsInput }) => {
    const lacking = needsInput.map(({ path }) => path);
    const targets = changes.targets;
    expect(
      validateAction(engineOf(capo), type, params, { lacking, ...(targets && { targets }) }),
    ).toMatchObject({
      ok: true,
    });
    return { ...params, type, asked: [...new Set(lacking.map((path) => path.slice('params.'.length)))] };
  });
}

const mail = (more: object = {}) => ({
  type: 'email.send',
  to: [JANE],
  subject: 'Order',
  body: 'It ships on Friday.',
  asked: [],
  ...more,
});
const BOTH = { to: [JANE, BOB] };
const COPY = { cc: [BOB] };
/** Of a sentence that is not in the form, whatever it names. */
const NOTHING = { to: [], subject: '', body: '', asked: ['to', 'subject', 'body'] };

describe('a mail in the form of the rule is ready', () => {
  it.each<[text: string, more?: object]>([
    [`Email ${JANE}, subject "Order": "It ships on Friday."`],
    [`Email ${JANE}, subject "Order": It ships on Friday.`],
    [`Email ${JANE} "It ships on Friday.", subject "Order"`],
    [`${JANE}: "It ships on Friday." Subject: "Order"`],
    [`Tell ${JANE}: It ships on Friday. Subject: "Order"`],
    [`Please send an email to ${JANE} with the subject “Order” saying “It ships on Friday.” Thanks!`],
    [`Can you write to Jane Doe <${JANE}> with subject 'Order' and text 'It ships on Friday.'?`],
    [`Send ${JANE} an email. The subject is "Order". The text is "It ships on Friday."`],
    [`Email our customer (${JANE}); subject: Order; text: It ships on Friday.`],
    [`email ${JANE}, subject Order: It ships on Friday.`],
    [`Email ${JANE}: It ships on Friday. Thanks! Subject: Order`, { body: 'It ships on Friday. Thanks!' }],
    [`Écris à ${JANE} : It ships. Merci ! Objet : Order`, { body: 'It ships. Merci !' }],
    [`Email ${JANE}: It ships. Thanks, subject: Order`, { body: 'It ships. Thanks' }],
    [`Send this to ${JANE}:\n\nSubject: Order\n\nIt ships on Friday.`],
    [`To: ${JANE}\nCc: ${BOB}\nSubject: Order\n\nIt ships on Friday.`, COPY],
    [`Email ${JANE} and ${BOB}, subject "Order": "It ships on Friday."`, BOTH],
    [`Mail Jane (${JANE}), Bob (${BOB}), with subject "Order": It ships on Friday.`, BOTH],
    [`Email ${JANE} (cc ${BOB}), subject "Order": "It ships on Friday."`, COPY],
    [`Email "Doe, Jane" <${JANE}>, subject "Order": "It ships on Friday."`],
    [`Bitte schreib an ${JANE}, Kopie an ${BOB}, Betreff „Order“: „It ships on Friday.“`, COPY],
    [`Schicke eine E-Mail an ${JANE} mit dem Betreff "Order" und dem Text "It ships on Friday."`],
    [`Écris à ${JANE}, objet « Order » : « It ships on Friday. »`],
    [`Envía un correo a ${JANE} con el asunto "Order" y el texto "It ships on Friday."`],
    [`Send ${JANE} this: "It ships on Friday." Subject should be Order.`],
    [`Send "It ships on Friday." to ${JANE}, subject "Order"`],
    [`"It ships on Friday." - please send that to ${JANE} with the subject "Order"`],
    [`Subject: Order\nText: It ships on Friday.\nTo: ${JANE}`],
    [
      `mail ${JANE} and ${BOB}, cc cy@acme.example, subject Order, text It ships on Friday.`,
      { ...BOTH, cc: ['cy@acme.example'] },
    ],
    [`Send the text 'It ships on Friday.' to ${JANE} under the subject 'Order'.`],
    [`Envíe un correo a ${JANE} y a ${BOB}. Asunto: Order. Texto: It ships on Friday.`, BOTH],
    [`Send "It ships on Friday." to ${JANE} and ${BOB}, subject Order`, BOTH],
    [`Écris à ${JANE} avec l'objet « Order » et le texte « It ships on Friday. »`],
    [`Send two mails: one to ${JANE}: "It ships on Friday.", subject "Order"`],
    [
      `Email ${JANE}, subject: Order. Text: It ships. Can you put it on the agenda? Please send us the list.`,
      { body: 'It ships. Can you put it on the agenda? Please send us the list.' },
    ],
    [`"It ships on Friday." - please send this to ${JANE} with the subject Order`],
    [`Kannst du ${JANE} bitte eine kurze Mail schicken? Betreff: Order. Nachricht: It ships on Friday.`],
    [`Envoie un mail à ${JANE}, objet : Order, texte : It ships on Friday.`],
    [`Email ${JANE} with subject "Order" and this text: It ships on Friday.`],
    [`Email ${JANE}, subject Re: Order: It ships on Friday.`, { subject: 'Re: Order' }],
    [`Email ${JANE} (subject: Order), text: It ships on Friday.`],
    [`(Email ${JANE}, subject: Order, text: It ships on Friday.)`],
    [
      `Email ${JANE}: It ships (I think). (subject: Order; cc: ${BOB})`,
      { ...COPY, body: 'It ships (I think).' },
    ],
    [`Email ${JANE}, subject ‚Order‘, text \`It ships on Friday.\``],
    [
      `Email ${JANE}, subject: Order, text: We need 1) nuts 2) bolts :)`,
      { body: 'We need 1) nuts 2) bolts :)' },
    ],
    [`mail to ${JANE} subj Order: It ships on Friday.`],
    [`Email ${JANE}, subject "Your\norder": "It ships on Friday."`, { subject: 'Your order' }],
    [`Email ${JANE} (Betreff: Order 17), Text: It ships on Friday.`, { subject: 'Order 17' }],
    [
      `Email ${JANE} (cc ${BOB}, subject: Order 17), text: It ships on Friday.`,
      { ...COPY, subject: 'Order 17' },
    ],
    [`Cc: ${BOB}\nTo: ${JANE}\nSubject: Order\n\nIt ships on Friday.`, COPY],
    [`cc ${BOB}, to ${JANE}, subject "Order": "It ships on Friday."`, COPY],
    [`Subject: Order\nTo: ${JANE}\n\nPlease wait.`, { body: 'Please wait.' }],
    [`Please send the following email:\n\nTo: ${JANE}\nSubject: Order\n\nIt ships on Friday.`],
    [`Schreib ${JANE}, Betreff ist Order: Liebe Jane, es kommt.`, { body: 'Liebe Jane, es kommt.' }],
    [
      `Email ${JANE}, subject "Order". Say: It ships. Signed Jo Khan, Copy Corner`,
      { body: 'It ships. Signed Jo Khan, Copy Corner' },
    ],
  ])('%s', (text, more) => {
    expect(packets(text)).toEqual([mail(more)]);
  });

  it('and leaves word for word, with lines, lists, colons and quotations of its own', () => {
    const body =
      'Dear Jane,\n\nwe got, at 10:30:\n1. the “blue” one\n2. https://x.example/a:b\n\nBest,\nMara';
    expect(packets(`Email ${JANE}, subject "Order":\n${body}`)).toEqual([mail({ body })]);
    expect(packets(`Email ${JANE}, subject "Order": "He didn't come.\nCc: nobody"`)).toEqual([
      mail({ body: "He didn't come.\nCc: nobody" }),
    ]);
  });

  it('one for each line or sentence that is one', () => {
    const two = [mail({ body: 'One.' }), mail({ to: [BOB], body: 'Two.' })];
    expect(
      packets(`Email ${JANE}, subject "Order": "One." Then email ${BOB}, subject "Order": "Two."`),
    ).toEqual(two);
    expect(packets(`- Email ${JANE}, subject "Order": One.\n- Email ${BOB}, subject "Order": Two.`)).toEqual(
      two,
    );
  });

  it('one for each person who is told something', () => {
    expect(packets(`Tell ${JANE} "One." and ${BOB} "Two.", subject "Order"`)).toEqual([
      mail({ subject: '', body: 'One.', asked: ['subject'] }),
      mail({ to: [BOB], body: 'Two.' }),
    ]);
    expect(packets(`Send "One." to ${JANE}, subject "Order", and "Two." to ${BOB}, subject "Order"`)).toEqual(
      [mail({ body: '', asked: ['to', 'body'] })],
    );
  });

  it('or for each entry of a list, but a list within a text is text', () => {
    const list = `Two mails:\n1. Email ${JANE}, subject "Order": One.\n2. Email ${BOB}, subject "Order": Two.`;
    expect(packets(list)).toEqual([mail({ body: 'One.' }), mail({ to: [BOB], body: 'Two.' })]);
    const body = '- note: two jackets\n- tell the harbour master';
    expect(packets(`Email ${JANE}, subject "Order":\n${body}`)).toEqual([mail({ body })]);
  });

  it.each([
    ['Hello.', 'Hello.\n\nMara\nNorthwind'],
    ['Hello.\n\nBest regards\nMara', 'Hello.\n\nBest regards\nMara'],
    ['Thanks for the order. It ships.', 'Thanks for the order. It ships.\n\nMara\nNorthwind'],
    ['Hello. Thanks, Mara', 'Hello. Thanks, Mara'],
  ])('signed where it is not: %j', (said, body) => {
    const sender = { name: 'Mara', signature: 'Mara\nNorthwind', replyTo: null };
    expect(packets(`Email ${JANE}, subject "Order": "${said}"`, 'capo_ops', { sender })).toEqual([
      mail({ body }),
    ]);
  });
});

describe('a mail asks for exactly what it lacks', () => {
  it.each<[text: string, more: object]>([
    [`Email ${JANE}: It ships on Friday.`, { subject: '', asked: ['subject'] }],
    [`Email ${JANE}, subject "Order"`, { body: '', asked: ['body'] }],
    [`Betreff Order, Empfänger ${JANE}, Kopie an ${BOB}`, { ...COPY, body: '', asked: ['body'] }],
    [`Email ${JANE} and cc sue, subject "Order": "It ships on Friday."`, { asked: ['body'] }],
    ['Send Jane a mail with the subject "Order" saying "It ships on Friday."', { to: [], asked: ['to'] }],
    ['email jane: It ships on Friday. Subject: Order', { to: [], asked: ['to'] }],
    [`Email Anna, subject "Order": "It ships on Friday."`, { to: [], asked: ['to'] }],
    [`Send "It ships on Friday." to the dairy guy, subject "Order"`, { to: [], asked: ['to'] }],
    [
      `Please email jane(at)acme about it, subject Order, text: It ships on Friday.`,
      { to: [], asked: ['to'] },
    ],
    ['Email Joanna about the broken printer', NOTHING],
    ['tell everyone on the team we start at 8 tomorrow', NOTHING],
    ['Reply to the customer that complained yesterday and apologise', NOTHING],
    ['Please forward the signed lease to our lawyer', NOTHING],
    ['Bitte schreibe eine E-Mail an unseren Vermieter wegen der Heizung', NOTHING],
    ['Schreib der Frau Schulz, dass der Termin ausfällt.', NOTHING],
    ['Let Mrs Whitcombe know that it is late.', NOTHING],
    [`Laita postia osoitteeseen ${JANE}: It ships on Friday.`, NOTHING],
    ['Send jane@@acme.example the offer', NOTHING],
    [
      `Tell ${JANE} and ${BOB} their new salaries: Anna 4,200 EUR, Ben 3,900 EUR.`,
      { ...BOTH, subject: '', body: '', asked: ['subject', 'body'] },
    ],
    [
      `Invite ${JANE} on 3 December at 10:00 in our office, agenda: 2027 budget`,
      { subject: '', body: '', asked: ['subject', 'body'] },
    ],
    [
      `Remind ${JANE} about the invoice, cc ${BOB}`,
      { ...COPY, subject: '', body: '', asked: ['subject', 'body'] },
    ],
    [
      `Email ${JANE}, subject "${'a'.repeat(201)}": "It ships on Friday."`,
      { subject: '', asked: ['subject'] },
    ],
    [`Email ${JANE}, subject "Order": "…"`, { body: '', asked: ['body'] }],
    [`Email ${JANE} "One." and "Two.", subject "Order"`, { body: '', asked: ['body'] }],
  ])('%s', (text, more) => {
    expect(packets(text)).toEqual([mail(more)]);
  });

  it('with the directive beside it as the brief', () => {
    const text = `Tell ${JANE} that it is late`;
    const [packet] = draft(text).packets;
    expect(packet!.needsInput.find(({ path }) => path === 'params.body')!.message).toContain(`“${text}”`);
  });

  it.each([
    [`Email ${JANE} and ${BOB} separately, subject "Order": "It ships on Friday."`, []],
    [`Tell ${JANE} and ${BOB} each about the raise`, ['subject', 'body']],
    [`Send the same message separately to ${JANE} and ${BOB}, subject "Order": "It ships."`, []],
    [`Email ${JANE} and ${BOB}, subject "Order": "It ships." Separately, please.`, []],
  ])('one for each recipient: %s', (text, asked) => {
    expect(packets(text)).toMatchObject([
      { to: [JANE], asked },
      { to: [BOB], asked },
    ]);
  });
});

describe('a value that is in doubt stays empty and is asked for', () => {
  it.each<[text: string, more: object]>([
    [`Mail ${JANE}, subject "Order", text "We call it "Max" now."`, { body: '', asked: ['body'] }],
    [`Mail ${JANE}, subject "Order", text: "We call it "Max" now."`, { body: '', asked: ['body'] }],
    [`Mail ${JANE}, subject "Order": "We call it "Max" now."`, { body: '', asked: ['body'] }],
    [
      `Mail ${JANE}, subject "The "new" order": "It ships on Friday."`,
      { subject: '', body: '', asked: ['subject', 'body'] },
    ],
    [`Mail ${JANE}: "It ships on Friday." Subject in both cases: Order`, { subject: '', asked: ['subject'] }],
    [
      `Schreib an ${JANE}, Betreff „Der „neue“ Plan“: „Es kommt.“`,
      { subject: '', body: '', asked: ['subject', 'body'] },
    ],
    [`Schreib an ${JANE}, Betreff „Order“: „Er sagte „nein“ und ging.“`, { body: '', asked: ['body'] }],
    [
      `Écris à ${JANE}, objet « Le « nouveau » plan » : « Il a dit « non ». »`,
      { subject: '', body: '', asked: ['subject', 'body'] },
    ],
    [`Mail ${JANE} 'it's Jane's 'new' one', subject Order`, { body: '', asked: ['body'] }],
    [
      `Email ${JANE} with 'Order' as the subject and 'It ships.' as the body`,
      { subject: '', body: '', asked: ['subject', 'body'] },
    ],
    [`email ${JANE} subject Order body It ships.`, { subject: '', body: '', asked: ['subject', 'body'] }],
  ])('%s', (text, more) => {
    expect(packets(text)).toMatchObject([mail(more)]);
  });

  it.each([
    `Send a mail to ${JANE}: "One." and another to ${BOB}: "Two." Subject for both: Order`,
    `Manda un correo a ${JANE}: "One." y a ${BOB}: "Two." Asunto para los dos: "Order"`,
    `Asunto para los dos: Order. Manda a ${JANE}: "One." y a ${BOB}: "Two."`,
    `Subject for both: "Order". Email ${JANE}: "One." Email ${BOB}: "Two."`,
  ])('as does a subject for two mails: %s', (text) => {
    expect(packets(text)).toEqual([
      mail({ subject: '', body: 'One.', asked: ['subject'] }),
      mail({ to: [BOB], subject: '', body: 'Two.', asked: ['subject'] }),
    ]);
  });
});

describe('words between a label and its value', () => {
  it.each<[text: string, more?: object]>([
    [`Reply to ${JANE} with "It ships on Friday." Der Betreff soll sein: Order`],
    [`Schreib an ${JANE}, der Betreff sollte lauten: Order, der Text lautet wie folgt: It ships on Friday.`],
    [`Schreib an ${JANE}, Betreff soll bitte „Order“ sein, Text soll „It ships on Friday.“ sein.`],
    [`Email ${JANE} with the subject line being Order and the text "It ships on Friday."`],
    [`Email ${JANE}. Topic: Order. Message: "It ships on Friday."`],
    [`hey, shoot a quick mail over to ${JANE} - subject: Order - "It ships on Friday."`],
    [`Sag bitte ${JANE} Bescheid, Betreff "Order", Text: "It ships on Friday."`],
    [`Email ${JANE}, subject Order, text "It ships on Friday.", with a copy to his boss (${BOB})`, COPY],
    [`Email ${JANE}, subject: Will you come? Text: It ships on Friday.`, { subject: 'Will you come?' }],
    [
      `Email ${JANE}, subject: To be or not to be. Text: "It ships on Friday."`,
      { subject: 'To be or not to be' },
    ],
  ])('are skipped: %s', (text, more) => {
    expect(packets(text)).toMatchObject([mail(more)]);
  });
});

/** What was read is kept, and one question names what is not known. */
describe('a word that the runner does not know makes a complete mail ask once', () => {
  it.each<[text: string, more?: object]>([
    [`Tell ${JANE} that it is late. Subject: Order. Message: It ships on Friday.`],
    [`Send an apology to ${JANE} for the delay. Subject "Order". Tell her: "It ships on Friday."`],
    [`If she has not answered, send ${JANE} "It ships on Friday." Subject: Order`],
    [`Send this to ${JANE} next Monday at 8: "It ships on Friday." Subject: Order`],
    [
      `Don't send anything to ${BOB} yet, but write to ${JANE}: It ships on Friday. Subject: Order`,
      { asked: ['to'] },
    ],
    [`Mail ${JANE} (not ${BOB}), subject "Order": "It ships on Friday."`, { asked: ['to'] }],
    [`Mail ${JANE} "It ships on Friday." but make it Monday, subject "Order"`],
    [`Send the contract to ${JANE}, subject "Order": "It ships on Friday."`],
    [`Email ${JANE} and the accountant. Subject: Order. Text: It ships on Friday.`],
    [`pls send an emial to ${JANE} teh subject is Order and the txt is It ships on Friday.`],
    [
      `okay send a mail to mister Jones that is ${JANE}, subject "Order": "It ships on Friday."`,
      { to: [], asked: ['to'] },
    ],
    [`Mail ${JANE}: "It ships on Friday.", subject "Order", with ${BOB} in copy`, { asked: ['to'] }],
    [
      `Email ${JANE} [subject: Order] [text: It ships on Friday.] Thanks!`,
      { body: 'It ships on Friday.] Thanks!' },
    ],
    [`Email ${JANE} the following. Subject: Order. "It ships on Friday." Do not add anything else.`],
    [`Email ${JANE}, subject "Order": "It ships on Friday." Reply to me at ${BOB}`, { asked: ['to'] }],
    [`Envoie s'il te plaît un mail à ${JANE}, objet : Order, texte : It ships on Friday.`],
    [
      `Envíe por favor un mensaje a ${JANE} y a ${BOB}. Asunto: Order. Texto: It ships on Friday.`,
      { ...BOTH },
    ],
  ])('%s', (text, more) => {
    expect(packets(text)).toEqual([mail({ asked: ['body'], ...more })]);
  });

  it.each([
    `Email ${JANE}, subject something nice, text "It ships on Friday."`,
    `Email ${JANE}, subject is not needed, text "It ships on Friday."`,
    `Email ${JANE}, subject Order please, text "It ships on Friday."`,
    `Email ${JANE}, subject: sounds like Order, in German, text "It ships on Friday."`,
    `Email ${JANE} with subject Order and attach a.pdf. Text: It ships on Friday.`,
    `Email ${JANE}, subject to approval: It ships on Friday.`,
  ])('and an unquoted subject that may be a part of the sentence stays empty: %s', (text) => {
    expect(packets(text)).toEqual([mail({ subject: '', asked: ['subject'] })]);
  });
});

describe('a blind copy', () => {
  it.each([
    `Email ${JANE}, subject Order, bcc me at ${BOB}, text "It ships on Friday."`,
    `Email ${JANE}, subject Order bcc ${BOB}, text "It ships on Friday."`,
    `Email ${JANE}, subject Order, text "It ships on Friday.", blind copy to ${BOB}`,
    `Email ${JANE}, subject Order, text "It ships on Friday." ${BOB} should be in bcc.`,
    `Email ${JANE} subject Order text "It ships on Friday." Put ${BOB} in bcc please`,
    `Schreib an ${JANE}, Betreff Order, Text "It ships on Friday.", und setz ${BOB} blind in Kopie.`,
    `Schreib an ${JANE}, Blindkopie an ${BOB}, Betreff Order, Text "It ships on Friday."`,
  ])('is asked about once: %s', (text) => {
    const asked = draft(text).packets.flatMap(({ needsInput }) => needsInput);
    expect(asked).toMatchObject([{ path: 'params.to', message: expect.stringContaining(BOB) }]);
    expect(packets(text)).toMatchObject([mail({ asked: ['to'] })]);
  });
});

describe('a mail is never ready', () => {
  const ready = `mail ${JANE}, subject "Order": "It ships on Friday."`;
  it.each([
    `Every Monday ${ready}`,
    `Mail ${JANE} on behalf of Bob, subject "Order": "It ships."`,
    `Send a weekly reminder to ${JANE}, subject "Order": "It ships."`,
    `Tell ${JANE} that it ships and cancel the rest. Subject "Order". Text "It ships."`,
    `Mail ${JANE}, subject "Order": that it ships on Friday`,
    `Mail ${JANE}, subject "Order": Hi Jane, your [thing] ships. Best, Tom`,
    `Mail ${JANE}, subject "Order": Hi Jane, it ships. Best, Tom. But only if Bob agrees.`,
    `Mail ${JANE}, subject "Order": "It is attached."`,
    `${ready} in German`,
    `If he agrees, ${ready}`,
    `Tomorrow at 9 ${ready}`,
    `Do not send anything yet. ${ready}`,
    `Ask me first. Then ${ready}`,
    `${ready} Don't send it yet.`,
    `${ready} if she has not replied`,
    `${ready} Wait for my ok.`,
    `${ready} Mach das erst, wenn ich es sage.`,
    `Mail ${JANE}, subject "Order": It ships. Don't send it before I say so.`,
    `Mail ${JANE}, subject "Order": It ships. Then call her.`,
    `Mail ${JANE}, subject: Order\n\nHi,\nplease send ${BOB} the offer.`,
    `Mail ${JANE}, subject "Order": It ships. Also tell ${BOB}.`,
    `Mail ${JANE}, subject "Order": It ships. Attach the invoice.`,
    `Mail ${JANE}, subject "Order": "It ships" on Friday.`,
    `Mail ${JANE}, subject "Order": "We call it "Max" now."`,
    `Mail ${JANE}, subject "Order": "It ships.`,
    `Mail ${JANE}, subject "Order": See below.\n\n> From: ${BOB}\n> Hello`,
    `Mail ${JANE} tomorrow, subject "Order": "It ships."`,
    `Mail ${JANE} only after I approve, subject "Order": "It ships."`,
    `Mail ${JANE} and Bob, subject "Order": "It ships."`,
    `Mail ${JANE}, subject "Order": It ships. cc ${BOB} She knows.`,
    `Mail ${JANE}, subject "Order": It ships. Send the same to Bob.`,
    `Mail ${JANE}, subject "Order": It ships, tell Bob as well.`,
    `Mail ${JANE}: It ships. Record 50 EUR from Acme. Subject: Order`,
    `Mail ${JANE}, subject "Order": It ships (draft only, do not send).`,
    `Mail ${JANE}, subject "Order": It ships on Monday... no, write: It ships on Friday.`,
    `Mail ${JANE}, subject "Order": It ships. Please also tell Bob.`,
    `Mail ${JANE} and ${BOB}, not ${BOB}, subject "Order": "It ships."`,
    `Mail ${JANE}, subject "Order": "It ships."\n> and this\nThanks`,
    `Mail ${JANE}, bcc ${BOB}, subject "Order": "It ships."`,
    `Mail jane@аcme.example, subject "Order": "It ships."`,
    `Mail ${JANE} and bob@аcme.example, subject "Order": "It ships."`,
    `Mail ${JANE}'s boss, subject "Order": "It ships."`,
    `Tell Bob to mail ${JANE}: "It ships.", subject "Order"`,
    `Mail ${JANE}, subject "Order", subject "Other": "It ships."`,
    `Mail ${JANE}, subject "Order". Text: It ships. Wait for my ok.`,
    `Mail ${JANE}, subject "Order". Text: Hi Jane, it ships. Don't send it before I say so. Best, Tom`,
    `Mail ${JANE}, subject "Order". Text: Hi Jane, it ships. Best, Tom. Wait until Monday.`,
    `Tell everybody: ${JANE} and ${BOB} are on holiday. Subject "Order", text "It ships."`,
    `Tell our buyers: ${JANE}. Subject "Order"`,
    `Mail ${JANE}, subject "Order". Text: It ships. Make it sound friendly.`,
    `Mail ${JANE}, subject "Order". Text: It ships (translate to French).`,
    `Écris à ${JANE}, objet : Order, texte : On se voit à midi. Envoie-le demain.`,
    `Mail ${JANE}, subject "Order": tell her that it ships`,
    `Mail ${JANE}, subject "Order", text: something about Friday`,
    `Mail ${JANE}, subject: same as last time, text: "It ships."`,
    `Every Monday send ${JANE} the mail "Order" with text: It ships.`,
    `Write to everyone who has paid: ${JANE}, ${BOB}. Subject "Order". Text: "It ships."`,
    `Write to all of them tomorrow: ${JANE}, ${BOB}. Subject "Order". Text: "It ships."`,
    `Email the offer to all: ${JANE}, ${BOB}. Subject "Order". Text: "It ships."`,
    `Mail ${JANE} - subject something nice - "It ships."`,
    `Mail ${JANE}, subject "Order". Text: Hi Jane, it ships. Only if Bob agrees. Best, Tom`,
    `Mail ${JANE}, subject "Order": It ships. Do not add anything else.`,
    `Take back what went to ${JANE}, write her a mail with subject Order, text: It ships.`,
  ])('where something stands beside it: %s', (text) => {
    const found = packets(text);
    expect(found.length).toBeGreaterThan(0);
    for (const { type, asked } of found) expect([type, asked.length > 0]).toEqual(['email.send', true]);
  });

  it.each([`Don't ${ready}`, `Never ${ready}`, `Did ${JANE} ever reply to us?`, `Do not write to ${JANE}`])(
    'and not even prepared: %s',
    (text) => {
      const { packets: none, remarks } = draft(text);
      expect(none).toEqual([]);
      expect(remarks).toContain(`Not written to: ${JANE}.`);
    },
  );

  it.each([
    [`Reply to the complaint of ${JANE}`, JANE],
    [`Email ${JANE} "It ships." with the subject "Order" and ${BOB} in cc`, BOB],
    [`Mail ${JANE}, subject "Order": "It ships." ${JANE.slice(1)} gets it too.`, JANE.slice(1)],
    [`Forward the mail from ${JANE} to ${BOB}`, JANE],
    [`Tell ${JANE} that ${BOB} is on holiday`, BOB],
  ])('for whoever is only spoken of, who is asked about: %s', (text, address) => {
    const [packet] = draft(text).packets;
    expect(packet!.params['to']).not.toContain(address);
    expect(packet!.needsInput.find(({ path }) => path === 'params.to')!.message).toContain(address);
  });
});

it.each([
  `Look at this:\n---\nEmail ${BOB}, subject "A": "B"\n---\nbad, is it not?`,
  `Somebody wrote:\n> Email ${BOB}, subject "A": "B"`,
  `See this.\nFrom: Eve <${JANE}>\nEmail ${BOB}, subject "A": "B"`,
])('what somebody else wrote asks for nothing: %j', (text) => {
  expect(draft(text)).toMatchObject({ packets: [], remarks: expect.stringContaining(BOB) });
});

describe('the context', () => {
  const context = {
    customer: { name: 'Jane Doe', email: JANE },
    subject: 'Order',
    body: 'It ships on Friday.',
  };
  it.each<[string, Record<string, unknown>, object]>([
    ['Email it now', { ...context, to: JANE }, {}],
    ['Send this to the customer.', context, { to: [], asked: ['to'] }],
    ['Email it now', { ...context, to: JANE, cc: 'Sue' }, { asked: ['body'] }],
    ['ok looks good, email it out now pls', { ...context, cc: BOB }, { asked: ['to', 'subject', 'body'] }],
    ['Email it now', { to: [JANE], cc: [BOB], subject: 'Order', body: 'It ships on Friday.' }, COPY],
    ['Send this to the customer.', { ...context, to: 'Jane' }, { to: [], asked: ['to'] }],
    [`Email ${JANE}: "It ships on Friday."`, { subject: 'Order', body: 'Other.' }, {}],
  ])('is used as it is: %s', (text, given, more) => {
    const found = packets(text, 'capo_ops', { directive: { context: given } });
    if ('asked' in more && more.asked !== undefined && (more.asked as string[]).length > 1)
      expect(found.every(({ asked }) => asked.length > 0)).toBe(true);
    else expect(found).toEqual([mail(more)]);
  });
});

describe('other moves', () => {
  it.each<[string, CapoRole, object]>([
    [
      'Record 349.90 EUR revenue from Stripe for order 5521',
      'capo_revenue',
      { type: 'revenue.record', amount: 349.9, currency: 'EUR', source: 'Stripe', asked: [] },
    ],
    ['Record 50 EUR', 'capo_revenue', { amount: 50, asked: ['source'] }],
    [
      'Record the payment from Café Central',
      'capo_revenue',
      { source: 'Café Central', asked: ['amount', 'currency'] },
    ],
    [
      'Book 700 from Acme for the laundry',
      'capo_revenue',
      { source: 'Acme', description: 'laundry', asked: ['amount', 'currency'] },
    ],
    [
      'We received $50 from Acme for the website, please book it',
      'capo_revenue',
      { amount: 50, source: 'Acme', description: 'website', asked: [] },
    ],
    [
      'Müller & Co. haben heute 50,50 € für das Dach bezahlt, bitte verbuchen.',
      'capo_revenue',
      { amount: 50.5, asked: ['source', 'amount'] },
    ],
    ['We got 50 EUR from Acme if it is true, please book it', 'capo_revenue', { asked: ['amount'] }],
    ['Record 50 EUR from Acme if they pay', 'capo_revenue', { asked: ['amount'] }],
    [
      'Record the payment for invoice 12 from Acme',
      'capo_revenue',
      { amount: undefined, source: 'Acme', asked: ['amount', 'currency'] },
    ],
    [
      'Record a payment, Greenleaf Florists paid us',
      'capo_revenue',
      { asked: ['amount', 'currency', 'source'] },
    ],
    [
      'Trag mal die Einnahme vom Wochenmarkt ein',
      'capo_revenue',
      { source: 'Wochenmarkt', asked: ['amount', 'currency'] },
    ],
    [
      'Trag bitte 89,90 Euro Einnahme ein, Kunde Frau Roth, Reparatur, bezahlt am 2. Mai 2025.',
      'capo_revenue',
      {
        amount: 89.9,
        currency: 'EUR',
        source: 'Frau Roth',
        description: undefined,
        asked: ['amount'],
      },
    ],
    [
      'Trag 75 Euro von Frau Albers für den Verein ein.',
      'capo_revenue',
      { amount: 75, source: 'Frau Albers', description: 'Verein', asked: [] },
    ],
    [`Record 50 EUR from Acme for eggs to ${JANE}`, 'capo_revenue', { asked: ['amount'] }],
    ['Record 200 from Acme and 75 from Bolt', 'capo_revenue', { asked: ['amount', 'currency', 'source'] }],
    ['Record 50 EUR from Acme and 75 raffle', 'capo_revenue', { asked: ['source'] }],
    [
      'Verbuche 1.250,50 Euro Umsatz von der Schreinerei Huber',
      'capo_revenue',
      { amount: 1250.5, source: 'Schreinerei Huber', asked: [] },
    ],
    ['Record 50 EUR from the Hendersons', 'capo_revenue', { source: 'Hendersons', asked: [] }],
    ['Record 50 EUR from The Body Shop', 'capo_revenue', { source: 'The Body Shop', asked: [] }],
    [
      'Please book revenue of 1,275.50 USD from Harbor & Sons Ltd. for the March catering',
      'capo_revenue',
      { source: 'Harbor & Sons Ltd.', asked: [] },
    ],
    ['Verbuche 50 Euro von einer Firma namens Huber', 'capo_revenue', { asked: ['source'] }],
    ['Record 50 EUR from Huber cash', 'capo_revenue', { source: 'Huber', asked: [] }],
    [
      'Record 50 EUR from Huber against invoice 12',
      'capo_revenue',
      { source: 'Huber', description: 'invoice 12', asked: [] },
    ],
    ['Record 50 EUR from Huber somehow', 'capo_revenue', { amount: 50, asked: ['source'] }],
    ['Verbuche 50 Euro von Huber, nein, Meier', 'capo_revenue', { asked: ['amount'] }],
    [
      'Erfasse 320 € Einnahme von Café Morgenrot, Rechnung 2024-031',
      'capo_revenue',
      { amount: 320, source: 'Café Morgenrot', description: undefined, asked: ['amount'] },
    ],
    ['Record 50 EUR from Acme and Sons', 'capo_revenue', { source: 'Acme and Sons', asked: [] }],
    ['Record 50 EUR and 60 EUR from Acme', 'capo_revenue', { asked: ['amount', 'currency'] }],
    ['Acme paid 50 EUR too little, please book it', 'capo_revenue', { asked: ['source', 'amount'] }],
    ['Record 1.200k EUR from Acme', 'capo_revenue', { asked: ['amount', 'currency'] }],
    [
      'Verbuche 1.780,00 € von Möbelhaus Krüger für Rechnung 4409',
      'capo_revenue',
      { amount: 1780, source: 'Möbelhaus Krüger', description: 'Rechnung 4409', asked: [] },
    ],
    ['Record -50 EUR from Acme', 'capo_revenue', { asked: ['amount', 'currency'] }],
    ['Record - 50 EUR from Acme', 'capo_revenue', { asked: ['amount'] }],
    ['Record the 80 EUR from Acme as a loss', 'capo_revenue', { asked: ['amount'] }],
    ['Record 120 EUR from our account for office expenses', 'capo_revenue', { asked: ['amount'] }],
    ['Trag 50 € Ausgaben ein, Kunde Acme', 'capo_revenue', { asked: ['amount'] }],
    ['We paid 320 EUR to Blitz GmbH, please book it', 'capo_revenue', { asked: ['source', 'amount'] }],
    ['We paid 320 EUR from savings, please book it', 'capo_revenue', { asked: ['amount'] }],
    ['Acme hat uns 55 € erstattet, bitte verbuchen', 'capo_revenue', { asked: ['source', 'amount'] }],
    [
      'Bitte 450 € von Gartenbau Lang verbuchen',
      'capo_revenue',
      { amount: 450, source: 'Gartenbau Lang', asked: [] },
    ],
    [
      'Tell Anna: We received 50 EUR from Acme',
      'capo_revenue',
      { type: 'email.send', asked: ['to', 'subject'] },
    ],
    [
      'Write a document "Return policy": Returns are free.',
      'capo_product',
      { type: 'document.file', title: 'Return policy', body: 'Returns are free.', asked: [] },
    ],
    ['File this memo: All is well.', 'ceo', { title: 'All is well', body: 'All is well.', asked: [] }],
    [
      'File this memo for the board: All is well. Thanks.',
      'ceo',
      { title: 'All is well. Thanks', asked: [] },
    ],
    [
      "Create a document titled 'Opening' with the text: 1. Unlock. 2. Switch on.",
      'capo_product',
      { title: 'Opening', body: '1. Unlock. 2. Switch on.', asked: [] },
    ],
    [
      'Write a document (title: Rules): No smoking.',
      'ceo',
      { title: '', body: '', asked: ['title', 'body'] },
    ],
    [
      'Erstelle ein Dokument, der Titel soll sein: Regeln, Text: Nicht rauchen.',
      'ceo',
      { title: '', body: '', asked: ['title', 'body'] },
    ],
    [
      'Write a document titled "Rules" with the text "No smoking at all"',
      'ceo',
      { title: 'Rules', body: 'No smoking at all', asked: [] },
    ],
    ['Add a note called Ones: One.', 'ceo', { title: '', asked: ['title', 'body'] }],
    [
      'Raise a warning that the card reader is slow',
      'capo_ops',
      { type: 'signal.raise', severity: 'warning', body: '', asked: ['title', 'body'] },
    ],
    ['write a doc for the new starters', 'ceo', { type: 'document.file', asked: ['title', 'body'] }],
    ['Write a memo', 'capo_marketing', { type: 'document.file', asked: ['title', 'body'] }],
    [
      'Raise a critical signal: the API is down',
      'capo_product',
      { type: 'signal.raise', severity: 'critical', body: 'the API is down', asked: [] },
    ],
    ['Melde eine Warnung: kein Papier', 'capo_ops', { severity: 'warning', body: 'kein Papier', asked: [] }],
    ['Write a document about the "blue" printer', 'ceo', { asked: ['title', 'body'] }],
    ['Write a document about "the blue printer"', 'ceo', { asked: ['title', 'body'] }],
    [
      'Ask ops to check the stock.',
      'ceo',
      { type: 'directive.create', capo: 'capo_ops', directive: 'check the stock.', asked: [] },
    ],
    [
      `Email ${JANE}: Hello.`,
      'ceo',
      { type: 'directive.create', directive: `Email ${JANE}: Hello.`, asked: ['capo'] },
    ],
  ])('%s', (text, capo, expected) => {
    expect(packets(text, capo)).toMatchObject([expected]);
  });

  it('are handed on as they stand, and who does them is asked where two are named', () => {
    const text = 'Ask marketing to draft a newsletter, and have ops check the 40 tablecloths.';
    const directive = 'draft a newsletter, and have ops check the 40 tablecloths.';
    expect(packets(text, 'ceo')).toMatchObject([{ capo: 'capo_marketing', directive, asked: ['capo'] }]);
  });

  it.each<[string, CapoRole, string]>([
    ['Record 50 EUR from Acme', 'capo_ops', "Ops can't do this; it is for Revenue"],
    [`Email ${JANE}: Hello.`, 'capo_product', "Product can't do this; it is for Marketing, Revenue, or Ops"],
    ['Book a venue for 200 EUR from Acme', 'capo_revenue', 'Say to whom and what: Email anna@'],
    ['Translate the FAQ', 'capo_ops', 'Say to whom'],
    ['Delete all my old mails', 'capo_ops', 'Say to whom'],
    ['Give me a report on the revenue of this week', 'capo_revenue', 'Say to whom'],
    ["Draft minutes for yesterday's meeting.", 'ceo', 'Say to whom'],
    ['Pay the March salary: 2,400 EUR to Anna', 'capo_revenue', 'Say to whom'],
    [`Do not write to ${JANE} yet`, 'capo_ops', `Not written to: ${JANE}.`],
    ['Acme paid 150 EUR', 'capo_revenue', 'Say to whom'],
    [`Remind me tomorrow to call ${JANE}`, 'capo_ops', `Not written to: ${JANE}.`],
    ['what was our revenue last month?', 'capo_revenue', 'Say to whom'],
    ['Call drop_all of crm', 'capo_ops', 'There is no operation drop_all of crm.'],
    ['Call Jane of Acme with the news', 'capo_ops', 'Say to whom'],
  ])('are not prepared, and it is said: %s', (text, capo, remark) => {
    const { packets: none, remarks } = draft(text, capo);
    expect(none).toEqual([]);
    expect(remarks).toContain(remark);
    expect(remarks).toContain('Nothing was prepared.');
  });

  it('records revenue in a German sentence that goes on to a mail', () => {
    const text = `Trag bitte 90 Euro von Familie Kern ein und schick an ${JANE} eine Mail mit dem Betreff "Order" und dem Text "It ships on Friday."`;
    const revenue = { type: 'revenue.record', amount: 90, source: 'Familie Kern', asked: [] };
    expect(packets(text, 'capo_revenue')).toMatchObject([revenue, mail()]);
  });

  it('knows no person called “email”, and all moves of a sentence', () => {
    const text = 'Send an email, subject "Order", saying "It ships on Friday."';
    expect(packets(text)).toMatchObject([mail({ to: [], asked: ['to'] })]);
    expect(draft(text).packets[0]!.needsInput[0]!.message).toContain('No address is given');
    expect(movesIn('Record 50 EUR from Acme and email Jane.')).toEqual(['revenue.record', 'email.send']);
  });

  it.each([
    `Email ${JANE}, subject "Order": "It ships."`,
    'Record 50 EUR from Acme.',
    'Please record 50 EUR from Acme.',
    'And then tell Bob.',
    'Do not tell Jane.',
  ])('asks about a signal or a document with more behind it: %s', (more) => {
    expect(packets(`Raise a warning: no paper. ${more}`)).toMatchObject([
      { type: 'signal.raise', asked: ['body'] },
    ]);
    expect(packets(`Write a document "Rules": no smoking. ${more}`)).toMatchObject([
      { type: 'document.file', asked: ['body'] },
    ]);
  });

  it('records the revenue that stands before a mail', () => {
    expect(packets(`Record 50 EUR from Acme and email ${JANE}: "Paid."`, 'capo_revenue')).toMatchObject([
      { type: 'revenue.record', source: 'Acme', amount: 50, asked: [] },
      { type: 'email.send', body: 'Paid.', asked: ['subject'] },
    ]);
  });

  it('prepares each of several tasks, or says what it left out and why', () => {
    const [letter, revenue] = packets(`Send the menu to ${JANE} and record 75 EUR from Ida`, 'capo_revenue');
    expect(letter).toMatchObject({ to: [JANE], asked: ['subject', 'body'] });
    expect(revenue).toMatchObject({ amount: 75, source: 'Ida', asked: [] });
    expect(draft(`Email ${JANE} about the party and book a table for six`).remarks).toBe('');
  });

  it('asks about a condition between two mails', () => {
    const said = `Ask ${JANE} whether it is free, and if it is not, ask ${BOB} for the hall`;
    expect(packets(said)).toMatchObject([{ to: [JANE] }, { to: [BOB] }]);
    expect(draft(said).packets.every(({ needsInput }) => needsInput.length > 0)).toBe(true);
  });

  it('asks about every mail where there are more than a draft holds', () => {
    const mails = Array.from(
      { length: 101 },
      (_each, at) => `Email p${at}@acme.example, subject "Order": "It ships."`,
    );
    const found = packets(mails.join('\n'));
    expect(found).toHaveLength(DRAFT_BOUNDS.packets);
    expect(found.filter(({ asked }) => asked.length === 0)).toEqual([]);
  });

  it('names an address that only a question repeats', () => {
    const { packets: found, remarks } = draft(`Record 50 EUR and 60 EUR from Acme (${JANE})`, 'capo_revenue');
    expect(found).toMatchObject([{ type: 'revenue.record' }]);
    expect(remarks).toContain(`Not written to: ${JANE}.`);
  });

  it.each([
    ['Email it. The password is “x”.', 'critical'],
    ['Delete the customer Alice Frost.', 'high'],
    ['Mail jane@аcme.example: Hello.', 'critical'],
  ])('are said to be dangerous: %s', (text, risk) => {
    expect(draft(text).concerns).toMatchObject([{ risk }]);
  });
});

describe('a post or a call', () => {
  const ERP = `whk_${'a'.repeat(26)}`;
  const targets: OutsideTargets = {
    destinations: [{ destinationId: ERP, description: 'ERP of Acme', url: 'https://erp.acme.example/hooks' }],
    operations: [
      {
        connector: 'crm',
        operation: 'create_contact',
        description: 'Adds a contact',
        method: 'POST',
        url: 'https://crm.example/contacts',
        params: {
          type: 'object',
          properties: {
            email: { type: 'string', format: 'email', description: 'The mail address' },
            name: { type: 'string' },
            credit: { type: 'number' },
            vip: { type: 'boolean' },
          },
          required: ['email'],
        },
        timeoutMs: 10_000,
        repeatable: false,
        hasKey: false,
        readOnly: false,
        amount: null,
        undo: { operation: 'delete_contact', params: { id: 'response.id' } },
        definition: 'd'.repeat(64),
      },
    ],
  };
  const args = (given: object, asked: string[] = []) => ({ type: 'http.call', arguments: given, asked });
  it.each<[string, object]>([
    [
      'Post “The delivery is late.” to the webhook ERP of Acme.',
      { type: 'webhook.post', destinationId: ERP, data: { text: 'The delivery is late.' }, asked: [] },
    ],
    ['Post "Late" to the webhook Warehouse', { data: { text: 'Late' }, asked: ['destinationId'] }],
    ['Call create_contact of crm with email = jane@acme.example.', args({ email: JANE })],
    [
      'Call create_contact of the connector crm with email: jane@acme.example, name: “Doe, Jane”, credit = 12.50 and vip = yes',
      args({ email: JANE, name: 'Doe, Jane', credit: 12.5, vip: true }),
    ],
    ['Call create_contact of crm', args({}, ['arguments.email'])],
    [
      'Call create_contact of crm with email = jane, credit = much',
      args({}, ['arguments.email', 'arguments.credit']),
    ],
    [
      'Call create_contact of crm with email = jane@acme.example, unless she is there already',
      args({ email: JANE }, ['arguments']),
    ],
    [
      'Call create_contact of crm with email = jane@acme.example, phone = 12',
      args({ email: JANE }, ['arguments']),
    ],
  ])('%s', (text, expected) => {
    expect(packets(text, 'capo_ops', { targets })).toMatchObject([expected]);
  });
});

describe('request changes', () => {
  const MAIL = {
    title: 'Mail',
    type: 'email.send',
    params: { to: [JANE], subject: 'The demo', body: 'It is on Friday.' },
    rationale: 'The directive asks for it.',
  };
  function revised(text: string, previous: object[] = [MAIL]) {
    const feedback = [{ round: 1, text, previous: { summary: '', body: '', packets: previous } }];
    const given = { ...briefing(`Email ${JANE}: It is on Friday.`, 'capo_ops'), feedback };
    return draftFrom(given as unknown as Parameters<typeof draftFrom>[0]);
  }

  it.each([
    'shorter, please',
    'Subject "New date"',
    `cc ${BOB}`,
    `Send it to ${BOB} instead.`,
    'Subject "New date" and make it shorter',
    `bcc ${BOB}`,
    '',
  ])('brings the draft back as it was, and asks: %s', (text) => {
    const { packets: found, remarks } = revised(text);
    const [{ params, needsInput }] = found as [(typeof found)[0]];
    expect(params).toEqual(MAIL.params);
    expect(needsInput).toMatchObject([
      { path: 'params.body', message: expect.stringContaining(`“${text}”`) },
    ]);
    expect(remarks).toContain('Nothing was changed');
  });

  it('keeps what is asked, and drops the wish that was not followed once the next one comes', () => {
    const lacking = {
      ...MAIL,
      params: { ...MAIL.params, to: [] },
      needsInput: [{ path: 'params.to', message: 'Who?' }],
    };
    const [first] = revised('shorter', [lacking]).packets;
    expect(first!.needsInput).toHaveLength(2);
    expect(revised('longer', [first!]).packets[0]!.needsInput).toMatchObject([
      lacking.needsInput[0],
      { message: expect.stringContaining('“longer”') },
    ]);
  });
});
