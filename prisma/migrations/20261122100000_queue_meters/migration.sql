-- CreateTable
CREATE TABLE "QueueMeter" (
    "row" INTEGER NOT NULL PRIMARY KEY,
    "day" TEXT NOT NULL,
    "run" TEXT NOT NULL,
    "seenUpload" BIGINT NOT NULL,
    "seenDownload" BIGINT NOT NULL
);

-- The counters of a queue's last day: SQLite takes the other columns from the row of the maximum.
INSERT INTO "QueueMeter" ("row", "day", "run", "seenUpload", "seenDownload")
SELECT "row", MAX("day"), "run", "seenUpload", "seenDownload" FROM "QueueDay" GROUP BY "row";

-- RedefineTables
CREATE TABLE "new_QueueDay" (
    "row" INTEGER NOT NULL,
    "day" TEXT NOT NULL,
    "menu" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "upload" BIGINT NOT NULL,
    "download" BIGINT NOT NULL,

    PRIMARY KEY ("row", "day")
);
INSERT INTO "new_QueueDay" ("row", "day", "menu", "name", "upload", "download")
SELECT "row", "day", "menu", "name", "upload", "download" FROM "QueueDay";
DROP TABLE "QueueDay";
ALTER TABLE "new_QueueDay" RENAME TO "QueueDay";

-- CreateIndex
CREATE INDEX "QueueDay_day_row_idx" ON "QueueDay"("day", "row");
