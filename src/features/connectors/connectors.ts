import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Workspaces } from '../workspaces/index.js';
import { type LoadedConnector, loadConnectors } from './load-connectors.js';
import type { Operation } from './operation.js';

/** The connectors of CONNECTORS_FILE, each for the workspaces that may use it. */
@Injectable()
export class Connectors {
  readonly #connectors: readonly LoadedConnector[];

  /** @throws ConnectorsInvalid: the service does not start with a file that cannot be used as it stands */
  constructor(
    config: Config,
    private readonly workspaces: Workspaces,
  ) {
    this.#connectors = config.connectorsFile ? loadConnectors(config.connectorsFile, config) : [];
  }

  /** All connectors of the file, for any workspace. */
  get all(): readonly LoadedConnector[] {
    return this.#connectors;
  }

  /** What a draft of this workspace may call. */
  async operations(scope: Scope): Promise<Operation[]> {
    const connectors = await this.usedBy(scope);
    return connectors.flatMap(({ operations }) => [...operations.values()]);
  }

  /** A connector that the workspace may use. */
  async find(scope: Scope, name: string): Promise<LoadedConnector | undefined> {
    return (await this.usedBy(scope)).find((connector) => connector.name === name);
  }

  private async usedBy(scope: Scope): Promise<LoadedConnector[]> {
    if (this.#connectors.length === 0) return [];
    const isFirst = await this.workspaces.isFirst(scope);
    return this.#connectors.filter(
      ({ workspaces }) =>
        workspaces === 'all' || (workspaces === 'first' ? isFirst : workspaces.includes(scope.workspaceId)),
    );
  }
}
