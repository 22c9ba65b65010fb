-- purpose: take the second line of defence away, for a control run: the ledger then accepts the
--          same event of the same player twice.
-- params:  none
-- result:  none
-- locks:   exclusive lock on the drill's own ledger
alter table reward_ledger drop constraint reward_ledger_event_once
