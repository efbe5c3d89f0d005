import { OmitType, PartialType } from '@nestjs/swagger';
import { IsIn, IsString, Matches, ValidateBy, ValidateIf } from 'class-validator';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import { Length, MaxLength } from '../../platform/kernel/text-length.js';
import { hasOneReading } from '../../platform/signatures/event-signature.js';
import { SUBSCRIBABLE_EVENTS, type SubscribableEvent } from '../events/index.js';
import type { DestinationStatus } from './destination.entity.js';

/** The two forms of `POST /webhooks`. */
export const REGISTER_WEBHOOK_EXAMPLES = {
  one: {
    summary: 'One event',
    value: {
      event: 'report.daily',
      url: 'https://hooks.acme.example/consigliere',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    },
  },
  many: {
    summary: 'Several events',
    value: {
      events: ['directive.executed', 'approval.requested'],
      url: 'https://hooks.acme.example/consigliere',
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    },
  },
};

/** The parameter of the paths, as it is documented. */
export const DESTINATION_PARAM = {
  name: 'id',
  description: 'The id of the destination.',
  example: 'whk_01kerrmxe0f92dpshwc00z76cs',
};

/** The paths of what concerns one destination: by token in both spellings, by session in one. */
export const destinationPaths = (rest = ''): string[] =>
  ['api/pro/webhooks', 'api/pro/partner/webhooks', 'api/admin/webhooks'].map((list) => `${list}/:id${rest}`);

const NAMES = SUBSCRIBABLE_EVENTS.join(', ');

/** Body of `POST /webhooks`: a destination whose secret the customer chose. Either `event` or `events`. */
export class RegisterWebhookBody {
  /** The one event to receive; not beside `events`. @example 'report.daily' */
  @ValidateIf(({ event, events }: RegisterWebhookBody) => event !== undefined || events === undefined)
  @IsIn(SUBSCRIBABLE_EVENTS, { message: `event, or each of events, must be one of: ${NAMES}` })
  @IsAlone()
  event?: SubscribableEvent;

  /**
   * The events to receive, each once; not beside `event`.
   * @example ['directive.executed', 'approval.requested']
   */
  @ValidateIf(isGiven('events'))
  @AreEvents()
  events?: SubscribableEvent[];

  /**
   * Where to send them: `https`, reachable at public addresses only. A fragment is left out.
   * @example 'https://hooks.acme.example/consigliere'
   */
  @IsString()
  url!: string;

  /**
   * Signs what is sent, 16 to 256 characters. After `whsec_`, the rest is padded base64.
   * @example 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
   */
  @Length(16, 256)
  @HasOneReading()
  secret!: string;
}

/** Body of `POST /partner/webhooks`: a destination whose secret is made here. */
export class RegisterPartnerWebhookBody {
  /**
   * One line of 1 to 200 characters, to tell destinations apart. Every member reads it, where only admins see the `url`.
   * @example 'The ledger of Acme'
   */
  @MaxLength(200)
  @Matches(/\S/, { message: '$property must be one line of 1 to 200 characters' })
  @Matches(ONE_LINE, { message: '$property must be one line of 1 to 200 characters' })
  @IsNotBlank()
  description!: string;

  /**
   * Where to send them: `https`, reachable at public addresses only. A fragment is left out.
   * @example 'https://hooks.acme.example/consigliere'
   */
  @IsString()
  url!: string;

  /**
   * The events to receive, each once. Left out: all but `approval.decided`, `action.completed` and `report.daily`.
   * @example ['directive.executed', 'approval.requested']
   */
  @ValidateIf(isGiven('events'))
  @AreEvents()
  events?: SubscribableEvent[];
}

/** Body of `PATCH .../webhooks/{id}`: what is left out stays as it is. */
export class ChangeDestinationBody extends PartialType(OmitType(RegisterPartnerWebhookBody, ['events']), {
  skipNullProperties: false,
}) {
  /**
   * The events to receive from now on, each once.
   * @example ['directive.executed', 'approval.requested']
   */
  @ValidateIf(isGiven('events'))
  @AreEvents()
  events?: SubscribableEvent[];
}

/** Body of `POST .../rotate-secret`; it may be empty. */
export class RotateSecretBody {
  /**
   * The new secret, 16 to 256 characters, which no answer shows. Left out: one is made and shown once.
   * @example 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
   */
  @ValidateIf(isGiven('secret'))
  @Length(16, 256)
  @HasOneReading()
  secret?: string;
}

/** A destination; its secret is nowhere. */
export class DestinationView {
  /** The id of the destination. @example 'whk_01kerrmxe0f92dpshwc00z76cs' */
  destinationId!: string;
  /**
   * One line, to tell destinations apart, which every member reads; empty when none was given.
   * @example 'The ledger of Acme'
   */
  description!: string;
  /** Where the events are sent. @example 'https://hooks.acme.example/consigliere' */
  url!: string;
  /** The events that it receives. @example ['directive.executed', 'approval.requested'] */
  events!: SubscribableEvent[];
  /**
   * active, paused (only a probe is sent now and then) or gone (nothing is sent any more)
   * @example 'active'
   */
  status!: DestinationStatus;
  /** The version of the API whose events it receives. @example '2026-04' */
  apiVersion!: string;
  /** When it was registered, Unix milliseconds. @example 1768210200000 */
  createdAt!: number;
  /**
   * When something last arrived, Unix milliseconds, to the second; null: nothing yet.
   * @example 1771401692000
   */
  lastDeliveryAt!: number | null;
  /** Deliveries in a row that were given up. @example 0 */
  consecutiveFailures!: number;
}

/** A new destination with the secret that was made for it; nothing shows it again. */
export class NewDestination extends DestinationView {
  /**
   * The secret that was made for it; nothing shows it again.
   * @example 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
   */
  secret!: string;
}

/** A destination after its secret was changed. */
export class RotatedDestination extends DestinationView {
  /**
   * The new secret, which nothing shows again; null when the caller chose it.
   * @example 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
   */
  secret!: string | null;
  /** Until then the secret before it signs as well, Unix milliseconds. @example 1771488000000 */
  previousSecretUntil!: number;
}

/** The deliveries to a destination that have not arrived. */
export class OpenDeliveries {
  /** Given up, and their events have not been sent again since; counted up to 1,000. @example 1 */
  lost!: number;
  /** Not sent yet, or tried again by themselves; counted up to 1,000. @example 0 */
  waiting!: number;
  /** Those of them that failed before, and are tried again by themselves; counted up to 1,000. @example 0 */
  failing!: number;
  /** When the next of them is tried, Unix milliseconds; null when none waits. @example 1771401692000 */
  nextAttemptAt!: number | null;
}

/** A destination as the list shows it. */
export class ListedDestination extends DestinationView {
  /** The deliveries to it that have not arrived. */
  deliveries!: OpenDeliveries;
}

export class DestinationPage extends PageFacts {
  /** The destinations of this page, newest first. */
  items!: ListedDestination[];
}

/** Null is a value, and the wrong one; only what is not named at all is left out. */
function isGiven(property: string): (body: object) => boolean {
  return (body) => (body as Record<string, unknown>)[property] !== undefined;
}

function IsAlone(): PropertyDecorator {
  return ValidateBy({
    name: 'isAlone',
    validator: {
      validate: (_event, args) => (args!.object as RegisterWebhookBody).events === undefined,
      defaultMessage: () => 'event and events cannot be used together',
    },
  });
}

/** One rule, whatever is wrong: those of the library look at each element of a list of any length, some at each pair. */
function AreEvents(): PropertyDecorator {
  return ValidateBy({
    name: 'areEvents',
    validator: {
      validate: (value) =>
        Array.isArray(value) &&
        value.length >= 1 &&
        value.length <= SUBSCRIBABLE_EVENTS.length &&
        new Set(value).size === value.length &&
        value.every((event) => SUBSCRIBABLE_EVENTS.includes(event)),
      defaultMessage: () => `$property must name one or more, each once, of: ${NAMES}`,
    },
  });
}

/** What is no text at all is the fault of the rule about its length. */
function HasOneReading(): PropertyDecorator {
  return ValidateBy({
    name: 'hasOneReading',
    validator: {
      validate: (secret) => typeof secret !== 'string' || hasOneReading(secret),
      defaultMessage: () => '$property begins with whsec_, so the rest must be padded base64',
    },
  });
}
