import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;

/**
 * Reads the path of a Java file a line, and its module ("-": none) with the folder that holds the module's sources.
 * Answers with what javac says against it, each sentence in Base64, on one line.
 */
class Judge {
    public static void main(String[] arguments) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split("\t");
            System.out.println(complaints(compiler, Path.of(words[0]), words[1], words[2]));
            System.out.flush();
        }
    }

    static String complaints(JavaCompiler compiler, Path file, String module, String patch) throws Exception {
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        List<String> options = module.equals("-")
            ? List.of("-proc:none", "-implicit:none", "-nowarn", "-d", patch)
            : List.of("-proc:none", "-implicit:none", "-nowarn", "-d", patch, "--patch-module", module + "=" + patch);
        try (var files = compiler.getStandardFileManager(found, Locale.ENGLISH, StandardCharsets.UTF_8)) {
            var units = files.getJavaFileObjects(file);
            var task = (com.sun.source.util.JavacTask) compiler.getTask(null, files, found, options, null, units);
            task.parse();
            task.analyze();
        }
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
