-- CreateTable
CREATE TABLE "UserChanges" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "count" INTEGER NOT NULL
);
INSERT INTO "UserChanges" ("id", "count") VALUES (1, 0);

-- Whatever changes a user counts, in the same statement.
CREATE TRIGGER "User_added" AFTER INSERT ON "User" BEGIN
    UPDATE "UserChanges" SET "count" = "count" + 1;
END;
CREATE TRIGGER "User_changed" AFTER UPDATE OF "name", "passwordHash", "group", "disabled", "comment" ON "User" BEGIN
    UPDATE "UserChanges" SET "count" = "count" + 1;
END;
CREATE TRIGGER "User_removed" AFTER DELETE ON "User" BEGIN
    UPDATE "UserChanges" SET "count" = "count" + 1;
END;
