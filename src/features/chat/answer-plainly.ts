import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { ChatFacts } from './chat-facts.reader.js';
import { type ChatIntent, type Intent, intentOf } from './intents.js';
import type { LookUp, Subject } from './look-up.js';
import {
  buyersText,
  changesAsked,
  changesText,
  directivesText,
  guardianText,
  HELP,
  ordersText,
  signalsText,
  sumsText,
  UNCLEAR,
  waitingText,
} from './plain-answer.js';
import type { PlainMessage, RefusedAct } from './plain-message.js';
import { recordText } from './record-answer.js';
import { refusalOf } from './refusals.js';
import { plainWords } from './reply-text.js';

interface Part {
  intent: ChatIntent;
  text: string;
}

/** A message may name as many records and ask about as many things as fit an answer. */
const MAX_PARTS = 3;
const ASK_AGAIN = 'I answer three things at a time: ask for the rest in another message.';

const INTENT_OF: Readonly<Record<Subject, Intent>> = {
  waiting: 'waiting',
  record: 'decision',
  directives: 'directives',
  signals: 'signals',
  revenue: 'revenue',
  cost: 'cost',
  standing_orders: 'standing_orders',
  guardian: 'guardian',
  buyers: 'buyers',
};

/** Answers what the rules have understood, without a model: it reads, and does nothing else. */
@Injectable()
export class AnswerPlainly {
  constructor(
    private readonly facts: ChatFacts,
    private readonly address: PublicAddress,
  ) {}

  async execute(scope: Scope, asked: PlainMessage): Promise<{ reply: string; intents: ChatIntent[] }> {
    const zone = await this.facts.timezone(scope);
    const lookUps = asked.subjects.flatMap((subject): LookUp[] =>
      subject === 'record' ? asked.ids.map((id) => ({ subject, id })) : [{ subject, id: null }],
    );
    const parts: Part[] = [];
    for (const { subject, id } of lookUps.slice(0, MAX_PARTS)) {
      parts.push(await this.part(scope, subject, id, { zone, asked }));
    }
    const [last] = parts.slice(-1);
    if (last && lookUps.length > MAX_PARTS) last.text += `\n${ASK_AGAIN}`;
    if (asked.refused.length > 0) {
      parts.push({ intent: intentOf('refused'), text: this.refusal(asked.refused) });
    }
    if (asked.isUnclear) parts.push({ intent: intentOf('hand_in'), text: UNCLEAR });
    if (parts.length === 0 && asked.requests.length === 0) {
      parts.push({ intent: intentOf('help'), text: HELP });
    }
    return {
      reply: parts.map(({ text }) => text).join('\n\n'),
      intents: parts.map(({ intent }) => intent),
    };
  }

  /** What the chat never does, and how a member does it themselves. */
  refusal(acts: readonly RefusedAct[]): string {
    return refusalOf(acts, this.address.url);
  }

  private async part(
    scope: Scope,
    subject: Subject,
    id: string | null,
    { zone, asked }: { zone: string; asked: PlainMessage },
  ): Promise<Part> {
    // Titles, texts and names in it are those of others.
    const made = (found: object | null, text: string): Part => ({
      intent: intentOf(INTENT_OF[subject], found),
      text: plainWords(text),
    });
    switch (subject) {
      case 'waiting': {
        const found = await this.facts.waiting(scope);
        return made(found, waitingText(found, zone));
      }
      case 'record': {
        const found = await this.facts.record(scope, id!);
        return made(found, recordText(id!, found, zone));
      }
      case 'directives': {
        const found = await this.facts.directives(scope);
        return made(found, directivesText(found, zone));
      }
      case 'signals': {
        const found = await this.facts.signals(scope);
        return made(found, signalsText(found, zone));
      }
      case 'revenue': {
        const found = await this.facts.revenue(scope);
        return made(null, sumsText('Revenue', found, asked.periods));
      }
      case 'cost': {
        const found = await this.facts.cost(scope);
        return made(null, sumsText('Cost of drafts', found, asked.periods));
      }
      case 'standing_orders': {
        const found = await this.facts.orders(scope);
        return made(found, ordersText(found, zone));
      }
      case 'guardian': {
        const found = await this.facts.guardian(scope);
        const { changesOf, periods } = asked;
        const now = guardianText(found, zone);
        if (changesOf === null) return made(null, now);
        const changes = changesAsked(found, { changesOf, periods });
        return made(changes, `${now}\n${changesText(changes, { changesOf, periods, zone })}`);
      }
      case 'buyers': {
        const { facts } = await this.facts.find(scope, { subject, id: null });
        return made(null, buyersText(facts!));
      }
    }
  }
}
