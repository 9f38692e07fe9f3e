-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_Revision" (
    "number" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "parent" INTEGER NOT NULL,
    "author" TEXT NOT NULL,
    "via" TEXT NOT NULL DEFAULT '',
    "time" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "summary" TEXT NOT NULL,
    "undoes" INTEGER,
    "rows" INTEGER NOT NULL,
    "size" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "diff" BLOB NOT NULL
);
INSERT INTO "new_Revision" ("number", "parent", "author", "via", "time", "summary", "undoes", "rows", "size", "sha256", "diff")
SELECT "number", "parent", "author", "via", "time", "summary", "undoes", "rows", "size", "sha256",
       jsonb(CASE WHEN json_valid("diff") THEN "diff" ELSE '[]' END)
FROM "Revision";
DROP TABLE "Revision";
ALTER TABLE "new_Revision" RENAME TO "Revision";
CREATE UNIQUE INDEX "Revision_parent_key" ON "Revision"("parent");
CREATE INDEX "Revision_number_size_idx" ON "Revision"("number", "size");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;
