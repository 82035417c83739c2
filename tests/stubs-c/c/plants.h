/* What the programs of both versions of versions/planted.proto and grown.proto share, in C and
 * C++. Compiled with GROWN for the second. */
#ifndef PLANTS_H
#define PLANTS_H

/* What a server of either version tells of the plant that clients send: `%d` is the kind that the
 * client gave, or what that is to the server, and so is `%s` of its home. */
#define TOLD "fern %d 5 1,2 a=3 east %s"

/* What a server of the second version tells beside that. */
#define TOLD_ALL TOLD " red|red|red 1 7 soup"
#define TOLD_MISSING TOLD " || 0 - -"

/* The kind that every client and server of a version gives: SHRUB, which the first version does not
 * know, and TREE. */
#ifdef GROWN
#define GIVEN 2
#else
#define GIVEN 4
#endif

#endif
