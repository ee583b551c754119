package assay.appcheck.storage;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;

import assay.appcheck.wire.Limits;

/**
 * Keeps each value in a file that its user alone may read, in a folder of its own.
 *
 * <p>A file that others may read is not read, nor is a link. A value is written to a new file, which takes the place of the
 * former one. On Android, give it a folder below {@code Context.getNoBackupFilesDir()}.
 */
public final class FileStorage implements ClientStorage {
    private final File folder;

    /** @param folder is made with the first value */
    public FileStorage(File folder) {
        this.folder = folder;
    }

    @Override
    public byte[] load(String key) throws IOException {
        File file = new File(folder, key);
        if (!file.exists()) return null;
        if (!PrivateFiles.contains(file)) {
            throw new IOException(file + " is no file that its user alone may read (chmod 600): it is not used");
        }
        byte[] bytes = new byte[Limits.REPLY + 1];
        int count = 0;
        try (InputStream input = new FileInputStream(file)) {
            while (count < bytes.length) {
                int more = input.read(bytes, count, bytes.length - count);
                if (more < 0) break;
                count += more;
            }
        }
        if (count > Limits.REPLY) throw new IOException(file + " is too large");
        byte[] value = new byte[count];
        System.arraycopy(bytes, 0, value, 0, count);
        return value;
    }

    @Override
    public void save(String key, byte[] value) throws IOException {
        if (!folder.isDirectory()) {
            if (!folder.mkdirs() && !folder.isDirectory()) throw new IOException("cannot make the folder " + folder);
            restrict(folder);
        }
        File file = File.createTempFile(key, ".new", folder);
        try {
            // Before anything is in it.
            restrict(file);
            try (FileOutputStream output = new FileOutputStream(file)) {
                output.write(value);
                output.getFD().sync();
            }
            if (!file.renameTo(new File(folder, key))) throw new IOException("cannot rename " + file);
        } finally {
            // Not there any more after a success.
            file.delete();
        }
    }

    @Override
    public void remove(String key) throws IOException {
        File file = new File(folder, key);
        if (!file.delete() && file.exists()) throw new IOException("cannot remove " + file);
    }

    private static void restrict(File file) throws IOException {
        boolean isFolder = file.isDirectory();
        file.setReadable(false, false);
        file.setWritable(false, false);
        file.setExecutable(false, false);
        boolean isOwn = file.setReadable(true, true) && file.setWritable(true, true);
        if (!isOwn || isFolder && !file.setExecutable(true, true)) throw new IOException("cannot restrict " + file);
    }
}
