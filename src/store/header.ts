/** What the header of a store file says of it, beside SQLite's own fields (https://www.sqlite.org/fileformat2.html, 1.3). */

/** The schema version that this program reads and writes: the number of steps in `migrations.ts`. */
export const schemaVersion = 6;

/** "stin" in ASCII, the application id of a store: tells it from another SQLite file. */
export const applicationId = 0x7374696e;

/** "stic": a copy of one. What happened after it was made is not known, so it is not gone on with as if nothing had. */
export const copyId = 0x73746963;

/** The size of the pages of a store, in bytes. */
export const pageSizeOfStores = 4096;
