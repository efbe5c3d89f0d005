export { type Block, mailOf, oneLine, pageHtml, unlinked } from './blocks.js';
export { type MailMessage, type SentMail, summaryOfMail } from './mail-message.js';
export { type MailOutcome, MailWork } from './mail-work.js';
export { MailModule } from './mail.module.js';
export {
  isForNow,
  LOGIN_REFUSED,
  Mailer,
  MailFailed,
  MailProbeFailed,
  type RefusedRecipient,
} from './mailer.js';
