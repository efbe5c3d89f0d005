import { canonicalDomain } from '../standing-orders/index.js';

/** Providers at which anybody opens a mailbox. */
const MAIL_PROVIDERS = new Set(
  `126.com 163.com aol.com duck.com fastmail.com free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net
  googlemail.com hey.com hotmail.co.uk hotmail.com hotmail.de hotmail.fr icloud.com inbox.lv laposte.net libero.it
  live.co.uk live.com live.de live.fr mac.com mail.com mail.ru mailbox.org me.com msn.com naver.com orange.fr outlook.com
  outlook.de outlook.es outlook.fr posteo.de proton.me protonmail.com qq.com rocketmail.com seznam.cz sfr.fr t-online.de
  tuta.com tutanota.com virgilio.it wanadoo.fr web.de wp.pl yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com
  yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru ymail.com zoho.com`.split(/\s+/),
);

/**
 * Second levels at which registries register third ones, such as `co.uk`. Of these no list is complete; an order that
 * names one is a mistake and no attack, since only an admin writes orders that allow.
 */
const SECOND_LEVELS = /^(?:ac|co|com|edu|gob|gov|gv|ltd|me|net|ne|nom|or|org|plc)\.[a-z]{2}$/;

/** Whether anybody can have an address at this domain, or a domain below it. */
export function isSharedDomain(domain: string): boolean {
  const name = canonicalDomain(domain) ?? '';
  return MAIL_PROVIDERS.has(name) || SECOND_LEVELS.test(name);
}
