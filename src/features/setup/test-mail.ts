import { type MailMessage, mailOf } from '../mail/index.js';

/** The mail by which a person sees that mail reaches them. */
export function testMail(id: string, email: string, publicUrl: string): MailMessage {
  const mail = mailOf('Test mail (Consigliere)', [
    { kind: 'heading', text: 'Mail works' },
    { kind: 'text', text: 'You asked Consigliere for this mail to see that mail reaches you.' },
    { kind: 'link', words: 'Go on to Consigliere', url: `${publicUrl}/` },
  ]);
  return { id, to: [email], ...mail };
}
