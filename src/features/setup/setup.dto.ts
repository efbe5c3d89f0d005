/** How one part of the installation is set up, or what a test of it found. */
export class SetupFinding {
  /** Whether it works as configured. @example false */
  works!: boolean;
  /** How it is, in a sentence. @example 'Mail is written to files in DATA_DIR/outbox and reaches nobody.' */
  found!: string;
  /**
   * The lines for `.env` that set it up, with values to replace; null: there is nothing to set.
   * @example 'SMTP_URL=smtps://user:password@mail.example.com:465'
   */
  remedy!: string | null;
}

/** What a workspace has done for the first time. */
export class FirstSteps {
  /** A directive was handed in. @example true */
  directive!: boolean;
  /** A draft was approved. @example false */
  approval!: boolean;
  /** A standing order was made. @example false */
  order!: boolean;
  /** The kill switch was used. @example false */
  killDrill!: boolean;
}

/** How the installation is set up, and what the workspace has done for the first time (`GET /setup`). */
export class SetupView {
  /** The address that links in mails start with. */
  address!: SetupFinding;
  /** How mail leaves. */
  mail!: SetupFinding;
  /** Who drafts. */
  model!: SetupFinding;
  /**
   * Whether mail to the caller can reach anyone: the owner of a new installation is at example.com, where nobody receives mail.
   * @example true
   */
  isReachable!: boolean;
  /** What was done for the first time. */
  steps!: FirstSteps;
}
