import { IsIn, IsOptional, IsString } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import type { Role } from '../../platform/auth/caller.js';
import { IsNewPassword } from '../../platform/auth/new-password.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { IsVisibleName } from '../../platform/kernel/visible-name.js';
import { IsNoneOfOurs, MemberView, NewToken } from '../workspaces/index.js';

/** The parameter of the paths, as it is documented. */
export const INVITE_PARAM = {
  name: 'id',
  description: 'The id of the invite.',
  example: 'inv_01kerq3jw8m2s6r4t0v9y1xzbc',
};

const STATUSES = ['pending', 'accepted', 'withdrawn', 'expired'] as const;
const MAX_DISPLAY_NAME = 80;

export class InvitesQuery extends PageQuery {
  /** Only invites of this status: pending, accepted, withdrawn or expired. @example 'pending' */
  @IsOptional()
  @IsIn(STATUSES)
  status?: (typeof STATUSES)[number];
}

/** What became of the mail. */
export class InviteMail {
  /** queued, sent or failed @example 'sent' */
  status!: 'queued' | 'sent' | 'failed';
  /** Why it could not be sent; null: it could, or was not tried yet. */
  error!: string | null;
}

/** An invite as everyone who manages members may see it; its token stands in the mail alone. */
export class InviteView {
  /** The id of the invite. @example 'inv_01kerq3jw8m2s6r4t0v9y1xzbc' */
  inviteId!: string;
  /** The team; null: the invite is to the workspace alone. */
  teamId!: string | null;
  /** Who is invited. @example 'jo@northwind.example' */
  email!: string;
  /** What the inviter called them; null: nothing. @example 'Jo Lind' */
  name!: string | null;
  /** The role in the team. @example 'operator' */
  role!: Role;
  /** pending, accepted, withdrawn or expired @example 'pending' */
  status!: (typeof STATUSES)[number];
  /** What became of the mail. */
  mail!: InviteMail;
  /** Who invited. */
  invitedBy!: ActorView;
  /** When it was made, Unix milliseconds. @example 1768209000000 */
  createdAt!: number;
  /** Until when it can be accepted, Unix milliseconds. @example 1768813800000 */
  expiresAt!: number;
}

export class InvitePage extends PageFacts {
  /** The invites of this page, newest first. */
  items!: InviteView[];
}

/** Either the member who was added, or the invite that was sent. */
export class AddedToTeam {
  /** The member, if the address is that of one and the caller is owner or admin of the workspace. */
  member?: MemberView;
  /** Otherwise the invite. */
  invite?: InviteView;
}

/** What the link's page asks for. */
export class AcceptanceBody {
  /**
   * The name that others will see, one line of 1 to 80 characters, and not to be taken for Consigliere, its guardian or a capo; an
   * account that exists keeps its own.
   * @example 'Jo Lind'
   */
  @IsVisibleName(MAX_DISPLAY_NAME)
  @IsNoneOfOurs('member')
  displayName!: string;

  /**
   * 10 to 200 characters, and none that is easily guessed; of an account that exists its own password.
   * @example 'correct horse battery staple'
   */
  @IsNewPassword()
  password!: string;
}

/** Body of `POST /invites/accept`. */
export class AcceptInviteBody extends AcceptanceBody {
  /** What stands at the end of the link. @example 'uM3nYdW0s2cJ8qv5Xk1ZbTgR7hLpAeFo6iNrVtCxB4E' */
  @IsString()
  @MaxLength(100)
  token!: string;
}

/** Who has become a member of what. */
export class AcceptedInvite {
  /** The workspace. @example 'wks_01kerpxzkz8m1c3v5b7n9q2w4e' */
  workspaceId!: string;
  /** The workspace's name. @example 'Northwind' */
  workspaceName!: string;
  /** The membership. @example 'mem_01kerq5tx2d4f6g8h0j1k3m5n7' */
  memberId!: string;
  /** The user. @example 'usr_01kerq5tx2d4f6g8h0j1k3m5n6' */
  userId!: string;
  /** The team; null: none. */
  teamId!: string | null;
  /** The role in the team, or in the workspace without one. @example 'operator' */
  role!: Role;
  /**
   * A token of the member's own, which nobody else has seen; nothing shows it again. Null where a second factor is asked for:
   * sign in with it.
   */
  token!: NewToken | null;
}
