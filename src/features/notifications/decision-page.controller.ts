import { Body, Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Request, Response } from 'express';
import { assertNotFromElsewhere } from '../../platform/auth/same-origin.js';
import { isCleanText } from '../../platform/http/json.js';
import { SecretPage } from '../../platform/http/page.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { faultsOf } from '../../platform/http/validation.js';
import { DomainError, type Fault } from '../../platform/kernel/define-error.js';
import { ContentChanged, NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { MUTATIONS, READS } from '../../platform/rate-limit/limits.js';
import {
  type EditBody,
  InputRequired,
  type PacketEditBody,
  RejectBody,
  type ShownApproval,
} from '../approvals/index.js';
import { DecideByLink, LinkUsed } from './decide-by-link.js';
import { decidedPage, decisionPage, refusedPage } from './decision-page.js';
import { editIn, faultsAt, type Form, type FormFaults, holdsDraft } from './draft-form.js';
import { answerFaults, answerIn } from './question-form.js';

const HTML = { 200: { 'text/html': '<!doctype html>' } };

/** The link of a mail, for a person: GET shows the draft, since programs open links of mails too, and POST edits or decides. */
@Controller('a/:token')
export class DecisionPageController {
  constructor(
    private readonly decideByLink: DecideByLink,
    private readonly address: PublicAddress,
  ) {}

  /** Shows the complete draft; it changes nothing. */
  @Get()
  @SecretPage()
  @Route({ auth: 'public', limit: READS, returns: HTML })
  show(@Param('token') token: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    return this.orMessage(response, token, {}, async () => {
      return decisionPage(await this.decideByLink.look(token), this.address.url);
    });
  }

  /** Saves what was changed, or decides, by one of the buttons of the page. */
  @Post()
  @SecretPage()
  @Route({ auth: 'public', form: true, limit: MUTATIONS, returns: HTML })
  act(
    @Param('token') token: string,
    @Body() body: Readonly<Record<string, string | string[]>>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const form: Form = Object.fromEntries(
      Object.entries(body).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : value.join('\n'),
      ]),
    );
    return this.orMessage(response, token, form, async () => {
      const linked = await this.decideByLink.look(token);
      assertNotFromElsewhere(request, this.address.url);
      const { decision, feedback = '' } = form;
      const packets = editIn(form, linked.approval.packets);
      const again = (status: number, faults: FormFaults, shown = linked) => {
        response.status(status);
        return decisionPage(shown, this.address.url, { form, faults });
      };
      if (Object.values(body).some((value) => typeof value !== 'string'))
        return again(422, about(TWO_VALUES));
      try {
        // Approved is what was read: what was typed in beside it is saved first, and then shown as it would be sent.
        if (packets.length > 0 && (decision === 'save' || decision === 'approve')) {
          return await this.saved(
            await this.decideByLink.save(token, editOf(linked.approval, packets)),
            feedback,
          );
        }
        if (decision === 'save') return again(200, about('Nothing was changed, so nothing was saved.'));
        if (decision === 'approve' && feedback.trim() !== '') return again(422, about(APPROVED_WITH_REASON));
        if (decision === 'approve')
          return decidedPage(await this.decideByLink.execute(token, { decision }), linked.approval.kind);
        const { question } = linked.approval;
        if (question && decision === 'answer') {
          if (feedback.trim() !== '') return again(422, about(ANSWERED_WITH_REASON));
          const answer = answerIn(form, question, linked.zone);
          return decidedPage(await this.decideByLink.execute(token, { decision, answer }), 'question');
        }
        if (decision !== 'reject' && decision !== 'revise') {
          const choices = question ? 'answer or reject' : 'save, approve, send back or reject';
          return again(422, about(`Choose one of these: ${choices}.`));
        }
        const faults = faultsIn(feedback);
        if (faults.length > 0) return again(422, new Map([['', faults]]));
        return decidedPage(
          await this.decideByLink.execute(token, { decision, feedback }),
          linked.approval.kind,
        );
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        const now = await this.decideByLink.look(token).catch(() => undefined);
        // The link is of no use any more.
        if (!now) throw error;
        response.set(error.headers);
        return again(error.status, faultsOfError(error, packets, now.approval), now);
      }
    });
  }

  /** The page of the link that replaces the one that an edit has used up. */
  private async saved(next: string, feedback: string): Promise<string> {
    const linked = await this.decideByLink.look(next);
    return decisionPage(linked, this.address.url, { next, form: { feedback } });
  }

  /** A person is told what is wrong as a page, which keeps what they have typed. */
  private async orMessage(
    response: Response,
    token: string,
    form: Form,
    make: () => Promise<string>,
  ): Promise<string> {
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const next = error instanceof LinkUsed && (await this.decideByLink.following(token));
      const linked = next && (await this.decideByLink.look(next).catch(() => undefined));
      // The same changes once more: the button was pressed twice, or the answer was loaded again.
      if (linked && holdsDraft(form, linked.approval.packets)) {
        return decisionPage(linked, this.address.url, { next, form: { feedback: form['feedback'] ?? '' } });
      }
      response.status(error.status).set(error.headers);
      const changes =
        error instanceof ContentChanged ? await this.decideByLink.changesSince(token) : undefined;
      // A caller without one of our links could make this service show words of their own.
      const about = await this.decideByLink.approvalIdOf(token);
      return refusedPage(error.message, changes, error instanceof NotFound ? {} : form, about);
    }
  }
}

/** Of what an agent asks for, its one set of parameters is edited. */
function editOf({ kind }: Pick<ShownApproval, 'kind'>, packets: PacketEditBody[]): EditBody {
  const [packet] = packets;
  return kind === 'action' && packet?.params ? { params: packet.params } : { packets };
}

function faultsOfError(
  { definition, message, details }: DomainError,
  edits: PacketEditBody[],
  { question, packets }: ShownApproval,
): FormFaults {
  if (definition.code === ValidationFailed.code) {
    const faults = details as Fault[];
    return question ? answerFaults(faults, question) : faultsAt(faults, edits, packets);
  }
  // The error names parameters, and is for programs.
  return about(definition.code === InputRequired.code ? 'It was not approved. Why stands below.' : message);
}

const TWO_VALUES =
  'The form has two values for one field, so nothing was done. Check it and press one button.';
const APPROVED_WITH_REASON =
  'You wrote a reason and pressed Approve, which would not use it. Nothing was approved. Send the draft back or reject it with your reason, or remove the reason and approve.';

const about = (message: string): FormFaults => new Map([['', [message]]]);

const ANSWERED_WITH_REASON =
  'You wrote a reason for declining and pressed Answer, which would not use it. Nothing was answered. Decline with your reason, or remove the reason and answer.';

/** A person has not seen the name of the field. */
function faultsIn(feedback: string): string[] {
  const errors = validateSync(plainToInstance(RejectBody, { feedback }));
  return [
    ...faultsOf(errors).map(({ message }) => message.replace(/^feedback/, 'The reason')),
    ...(isCleanText(feedback) ? [] : ['The reason must not contain control characters']),
  ];
}
