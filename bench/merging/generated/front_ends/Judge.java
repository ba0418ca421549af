import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Reads the path of a Java file a line, and its module ("-": none) with the folder that holds the module's sources.
 * Answers with what javac says against it, each sentence in Base64, on one line. What javac has read of the JDK stays
 * open between files of one folder.
 */
class Judge {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    private static final Map<String, StandardJavaFileManager> OPEN = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split("\t");
            System.out.println(complaints(Path.of(words[0]), words[1], words[2]));
            System.out.flush();
        }
    }

    static StandardJavaFileManager files(String module, String patch) {
        return OPEN.computeIfAbsent(module + " " + patch, key -> {
            var files = COMPILER.getStandardFileManager(null, Locale.ENGLISH, StandardCharsets.UTF_8);
            if (!module.equals("-")) {
                files.handleOption("--patch-module", List.of(module + "=" + patch).iterator());
            }
            files.handleOption("-d", List.of(patch).iterator());
            return files;
        });
    }

    static String complaints(Path file, String module, String patch) throws Exception {
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        List<String> options = List.of("-proc:none", "-implicit:none", "-nowarn");
        var files = files(module, patch);
        var units = files.getJavaFileObjects(file);
        var task = (com.sun.source.util.JavacTask) COMPILER.getTask(null, files, found, options, null, units);
        task.parse();
        task.analyze();
        StringBuilder answer = new StringBuilder();
        for (Diagnostic<?> each : found.getDiagnostics()) {
            if (each.getKind() == Diagnostic.Kind.ERROR) {
                byte[] text = (each.getCode() + " " + each.getMessage(Locale.ENGLISH)).getBytes(StandardCharsets.UTF_8);
                answer.append(Base64.getEncoder().encodeToString(text)).append(' ');
            }
        }
        return answer.toString();
    }
}
