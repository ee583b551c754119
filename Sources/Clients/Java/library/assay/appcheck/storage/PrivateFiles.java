package assay.appcheck.storage;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;

/** Whose a file is; a class of its own, because Android before version 8 has no {@code java.nio.file}. */
final class PrivateFiles {
    private PrivateFiles() {}

    /** Whether it is a file that its user alone may read. Where a system has no such permissions, every file is one. */
    static boolean contains(File file) throws IOException {
        try {
            return Check.isPrivate(file);
        } catch (NoClassDefFoundError | UnsupportedOperationException unknown) {
            return file.isFile();
        }
    }

    private static final class Check {
        static boolean isPrivate(File file) throws IOException {
            PosixFileAttributes attributes =
                Files.readAttributes(file.toPath(), PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            for (PosixFilePermission permission : attributes.permissions()) {
                if (!permission.name().startsWith("OWNER_")) return false;
            }
            return attributes.isRegularFile();
        }
    }
}
