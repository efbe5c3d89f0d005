export { type Block, mailOf, oneLine, pageHtml, unlinked } from './blocks.js';
export { type MailMessage, type SentMail, summaryOfMail } from './mail-message.js';
export { type MailOutcome, MailWork } from './mail-work.js';
export { MailModule } from './mail.module.js';
export { LOGIN_REFUSED, MailFailed, MailProbeFailed, Mailer, type RefusedRecipient } from './mailer.js';
export { isForNow } from './smtp.js';
