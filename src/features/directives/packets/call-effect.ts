import { Injectable } from '@nestjs/common';
import type { ActionResult, ParamsOf } from '../../capos/index.js';
import {
  type Arguments,
  CallOperation,
  Connectors,
  type LoadedConnector,
  type Operation,
  faultsOfArguments,
  undoOf,
} from '../../connectors/index.js';
import { assertAccepted } from './outside-answer.js';
import { EffectFailed, type OutsideEffect, type PacketToSend } from './packet-effect.js';
import type { OutsideUndo, PacketToUndo } from './undo.js';

/** What undoes a call: an operation with its arguments, or why there are none. */
interface UndoParams {
  connector: string;
  operation: string;
  arguments?: Arguments;
  missing?: readonly string[];
  /** Why it cannot be called with what was answered. */
  unusable?: string;
  /** What the file said of the call and its undo when the call was made. */
  definition?: string;
}

/**
 * `http.call` and what undoes it. A call may be made again where the operator says that it is safe: it only reads, or the
 * service heeds `Idempotency-Key`. Any other that may have taken effect is not (docs/decisions/0017-outside-calls.md).
 */
@Injectable()
export class CallEffect {
  constructor(
    private readonly connectors: Connectors,
    private readonly calls: CallOperation,
  ) {}

  /** @throws EffectFailed where there is no such operation any more */
  async call(
    workspaceId: string,
    { connector: name, operation }: ParamsOf<'http.call'>,
  ): Promise<OutsideEffect<ParamsOf<'http.call'>>> {
    const connector = await this.connectorCalled(workspaceId, name);
    const found = known(connector.operations.get(operation), `${operation} of ${name}`);
    return {
      kind: 'outside',
      repeatable: found.repeatable,
      run: (packet, signal) => this.run(connector, found, packet, signal),
    };
  }

  /** @throws EffectFailed where it cannot be undone: the operation is gone or was changed, or its answer lacked something */
  async undo(
    workspaceId: string,
    params: Record<string, unknown>,
  ): Promise<OutsideUndo<Pick<PacketToUndo, 'workPacketId'>>> {
    // Written by `undoFor`, and by the registry before there is an answer.
    const undo = params as unknown as UndoParams;
    const { connector: name, operation, arguments: given, missing = [] } = undo;
    if (undo.unusable !== undefined) {
      const message = `The call cannot be undone by ${operation} of ${name}: ${undo.unusable}.`;
      throw new EffectFailed('UNDO_NOT_POSSIBLE', message, false);
    }
    if (given === undefined) {
      const lacking = missing.length > 0 ? missing.join(', ') : 'the call was not answered';
      const message = `The call cannot be undone by ${operation} of ${name}: its answer lacked ${lacking}.`;
      throw new EffectFailed('UNDO_NOT_POSSIBLE', message, false);
    }
    const connector = await this.connectorCalled(workspaceId, name);
    const found = known(connector.undos.get(operation), `${operation} of ${name}`);
    if (undo.definition !== found.definition) {
      const message = `The connectors file says something else of ${operation} of ${name} since the call was made.`;
      throw new EffectFailed('UNDO_NOT_POSSIBLE', message, false);
    }
    const [fault] = faultsOfArguments(found, given);
    if (fault) {
      const message = `The call cannot be undone by ${operation} of ${name}: ${fault.path} ${fault.message}.`;
      throw new EffectFailed('UNDO_NOT_POSSIBLE', message, false);
    }
    return {
      kind: 'outside',
      repeatable: found.repeatable,
      run: async ({ workPacketId }, signal) => {
        const answer = await this.answerTo(connector, found, given, `${workPacketId}-undo`, signal);
        return { status: answer.status };
      },
    };
  }

  private async run(
    connector: LoadedConnector,
    operation: Operation,
    { params, workPacketId }: PacketToSend<ParamsOf<'http.call'>>,
    signal: AbortSignal,
  ): Promise<ActionResult> {
    const answer = await this.answerTo(connector, operation, params.arguments, workPacketId, signal);
    return {
      status: answer.status,
      ...(answer.excerpt !== '' && { answer: answer.excerpt }),
      ...(operation.undo && { undo: this.undoFor(connector, operation, params.arguments, answer.json) }),
    };
  }

  private undoFor(
    connector: LoadedConnector,
    { undo, connector: name }: Operation,
    given: Arguments,
    response: unknown,
  ): UndoParams {
    const undone = connector.undos.get(undo!.operation)!;
    const found = undoOf(undo!, undone, given, response);
    return { connector: name, definition: undone.definition, ...found };
  }

  /** @throws EffectFailed unless it was a success */
  private async answerTo(
    connector: LoadedConnector,
    operation: Operation,
    given: Arguments,
    key: string,
    signal: AbortSignal,
  ) {
    const answer = await this.calls.execute({ connector, operation, arguments: given, key, signal });
    assertAccepted(answer, {
      code: 'CALL',
      who: `${operation.operation} of ${operation.connector}`,
      isRepeatable: operation.repeatable,
      isHarmless: operation.readOnly,
      refusalMeansNothingDone: false,
    });
    return answer;
  }

  private async connectorCalled(workspaceId: string, name: string): Promise<LoadedConnector> {
    return known(await this.connectors.find({ workspaceId, teamIds: 'all' }, name), `the connector ${name}`);
  }
}

function known<T>(found: T | undefined, what: string): T {
  if (found) return found;
  const message = `The connectors file has no longer ${what} for this workspace.`;
  throw new EffectFailed('CALL_NOT_AVAILABLE', message, false);
}
