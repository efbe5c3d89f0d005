/** Active members of a workspace. They are counted when somebody is invited, and again when the invite is accepted. */
export const MAX_MEMBERS = 5_000;
/** Members of a team, counted likewise. */
export const MAX_TEAM_MEMBERS = 500;
