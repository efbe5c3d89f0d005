drop function if exists app.clock;

-- The time by which decisions about work packets are made: that of the database, which all processes share. A function of its
-- own, so that the owner of a test's database can move it.
create function app.clock() returns timestamptz language sql volatile return clock_timestamp();
grant execute on function app.clock to consigliere_app;
