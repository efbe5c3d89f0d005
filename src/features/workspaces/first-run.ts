import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, type OnApplicationBootstrap, type INestApplicationContext } from '@nestjs/common';
import { hash } from '@node-rs/argon2';
import { SYSTEM } from '../../platform/auth/caller.js';
import { canonicalPassword, newPasswordFault, type PasswordOwner } from '../../platform/auth/new-password.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { foldedMailAddress, isReachable, nameInAddress } from '../../platform/kernel/mail-address.js';
import { newOperatorToken } from '../../platform/kernel/operator-token.js';
import { StartRefused } from '../../platform/kernel/start-refused.js';
import type { StartOutput } from '../../platform/observability/start-output.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { WorkspaceEntity, MemberEntity, TokenEntity, UserEntity } from './workspaces.entity.js';
import { UNLIMITED } from './token.js';
import { Workspaces } from './workspaces.repository.js';

/** A workspace as it begins: what is not named has the default of its setting. */
export function newWorkspace(
  given: Pick<WorkspaceEntity, 'workspaceId' | 'name' | 'tier' | 'createdAt'> &
    Partial<Pick<WorkspaceEntity, 'timezone' | 'currency'>>,
): WorkspaceEntity {
  const { workspaceId, name, tier, createdAt, timezone = 'UTC', currency = 'USD' } = given;
  return {
    workspaceId,
    name,
    tier,
    timezone,
    locale: 'en',
    currency,
    presence: 'present',
    quietHours: null,
    notifications: {},
    secondFactor: 'optional',
    senderName: null,
    senderSignature: null,
    senderReplyTo: null,
    modelBudget: null,
    retention: {},
    isFirst: false,
    createdAt,
  };
}

/** What the first start made. */
interface FirstCredentials {
  token: string;
  /** Where it is kept for the command line. */
  file: string;
}

/** Any number no other part of the program locks; the second of two processes that start together waits and finds a workspace. */
const FIRST_RUN_LOCK = 0x66697273;

/** Makes the workspace, its owner and an operator token when there is no workspace yet. */
@Injectable()
export class FirstRun implements OnApplicationBootstrap {
  /** Undefined unless this start was the first. */
  credentials: FirstCredentials | undefined;
  readonly #kept: Record<string, string> = {};

  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly workspaces: Workspaces,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const workspaceId = newId('wks');
    await this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      const count = await this.workspaces.lockedCount(FIRST_RUN_LOCK);
      if (count === 0) this.credentials = await this.create(workspaceId);
    });
  }

  private async create(workspaceId: string): Promise<FirstCredentials> {
    const { config } = this;
    const now = this.clock.now();
    const token = config.bootstrapToken ?? newOperatorToken();
    const email = config.bootstrapOwnerEmail;
    const generated = config.bootstrapOwnerPassword === undefined && randomBytes(12).toString('base64url');
    const displayName = config.bootstrapOwnerName ?? nameInAddress(email);
    const owner = { email, displayName, workspaceNames: [config.bootstrapWorkspace] };
    if (!generated) await assertGood(config.bootstrapOwnerPassword!, owner);
    const userId = newId('usr');
    const memberId = newId('mem');
    const tokenId = newId('tok');
    const { bootstrapWorkspace: name, bootstrapTier: tier } = config;
    const workspace = newWorkspace({ workspaceId, name, tier, createdAt: now });
    this.db.insert(WorkspaceEntity, { ...workspace, isFirst: true });
    this.db.insert(UserEntity, {
      userId,
      email: foldedMailAddress(email),
      displayName,
      passwordHash: await hash(canonicalPassword(generated || config.bootstrapOwnerPassword!)),
      createdAt: now,
    });
    this.db.insert(MemberEntity, {
      memberId,
      workspaceId,
      userId,
      role: 'owner',
      status: 'active',
      teamOnly: false,
      joinedAt: now,
      lastSeenAt: null,
      openedAt: null,
    });
    this.db.insert(TokenEntity, {
      tokenId,
      workspaceId,
      memberId,
      name: 'first token',
      tokenHash: sha256(token),
      hint: token.slice(-4),
      madeBy: [],
      ...UNLIMITED,
      sessionId: null,
      createdAt: now,
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
    });
    this.receipts.append({
      actor: SYSTEM,
      action: 'workspace.created',
      entity: { type: 'workspace', id: workspaceId },
      summary: `The workspace ${config.bootstrapWorkspace} was created with its owner ${email}.`,
      details: { memberId, tokenId, tier: config.bootstrapTier },
    });
    // Before the COMMIT: a token that nobody ever saw would be of no use, a file without its token is written again.
    this.keep({ token, email, ...(generated && { password: generated }) });
    return { token, file: this.#file };
  }

  /** Adds to the file that the first start leaves for its operator; other features add what they make for it. */
  keep(more: Record<string, string>): void {
    Object.assign(this.#kept, more);
    mkdirSync(this.config.dataDir, { recursive: true });
    writeFileSync(this.#file, `${JSON.stringify(this.#kept, null, 2)}\n`, { mode: 0o600 });
  }

  get #file(): string {
    return join(this.config.dataDir, 'credentials.json');
  }
}

/** @throws StartRefused for a password that nobody could choose later */
async function assertGood(password: string, owner: PasswordOwner): Promise<void> {
  const fault = await newPasswordFault(password, owner);
  if (fault !== undefined) throw new StartRefused(`BOOTSTRAP_OWNER_PASSWORD ${fault}.`);
}

/** Tells the person who started the program the address, the configured abilities and the first sign-in. */
export function welcome(address: string, app: INestApplicationContext, output: StartOutput): void {
  const config = app.get(Config);
  output.info(`Consigliere is ready at ${address}`, { address });
  output.info(`The API reference is at ${address}/docs`);
  output.info(draftsSentence(config), { modelProvider: config.modelProvider });
  if (config.mailTransport === 'file') {
    const directory = join(config.dataDir, 'outbox');
    output.warn(
      `Mail is written to files in ${directory} and sent to nobody. To send it, set SMTP_URL and MAIL_FROM.`,
      { mailTransport: 'file' },
    );
  } else if (!isReachable(config.mailFrom.replaceAll(/^.*<|>$/g, ''))) {
    output.warn(
      `SMTP_URL is set and MAIL_FROM is not an address of yours: mail leaves from ${config.mailFrom}, which mail servers refuse or mark as spam. Set MAIL_FROM.`,
      { mailFrom: config.mailFrom },
    );
  }
  const { credentials } = app.get(FirstRun);
  if (credentials) tellOnce(credentials, config, output);
  const owner = config.bootstrapOwnerEmail;
  if (credentials && !isReachable(owner)) {
    output.warn(
      `Nobody is mailed what waits for a decision: the owner is ${owner}, where nobody receives mail. Invite yourself as owner, at an address of yours (POST /api/pro/members).`,
      { owner },
    );
  }
  if (output.isTerminal) output.info('Ctrl-C stops it.');
}

function draftsSentence({ modelProvider, modelName }: Config): string {
  if (modelProvider !== 'builtin')
    return `Drafts are made by the model ${modelName} (MODEL_PROVIDER=${modelProvider}).`;
  return (
    'Drafts are made by the built-in runner: what stands in quotation marks is sent word for word, and what is only ' +
    'described is left for you to word. To have texts written, connect a model (MODEL_PROVIDER).'
  );
}

/** The token is shown at a terminal only: a log is kept, copied and read by others. The file has it in either case. */
function tellOnce({ token, file }: FirstCredentials, { bootstrapToken }: Config, output: StartOutput): void {
  output.info(
    `This was the first start. The owner's operator token is in ${file} (readable by this user only).`,
    { file },
  );
  if (output.isTerminal && bootstrapToken === undefined) output.info(`It is ${token}`);
}
