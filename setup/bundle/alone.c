// For the JVM of a bundle, before its libc: nobody asks that libc for names of users and groups, and hosts are asked of files and DNS
// alone. It would read the machine's nsswitch.conf and load modules that were made for another libc. The JVM asks for the user's name and
// home at its start, and uses numbers where there are no names; flametop reads /etc/passwd itself.
#include <grp.h>
#include <nss.h>
#include <pwd.h>
#include <stddef.h>

__attribute__((constructor)) static void hosts(void)
{
	__nss_configure_lookup("hosts", "files dns");
}

struct passwd *getpwuid(uid_t uid)
{
	(void)uid;
	return NULL;
}

struct passwd *getpwnam(const char *name)
{
	(void)name;
	return NULL;
}

int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **found)
{
	(void)uid;
	(void)entry;
	(void)buffer;
	(void)size;
	*found = NULL;
	return 0;
}

int getpwnam_r(const char *name, struct passwd *entry, char *buffer, size_t size,
	       struct passwd **found)
{
	(void)name;
	return getpwuid_r(0, entry, buffer, size, found);
}

int getgrgid_r(gid_t gid, struct group *entry, char *buffer, size_t size, struct group **found)
{
	(void)gid;
	(void)entry;
	(void)buffer;
	(void)size;
	*found = NULL;
	return 0;
}

int getgrnam_r(const char *name, struct group *entry, char *buffer, size_t size,
	       struct group **found)
{
	(void)name;
	return getgrgid_r(0, entry, buffer, size, found);
}
