//! Executors, and what they take and return (P07x).

super::entries! {
    NOT_INSTALLED "P070" "Executor that is not installed",
        "No plugin of this name, version or digest is known here, so that no attempt of the task could do anything. Mend the name, or say \
         where the plugin lies (`--plugins`, or `plugins` in the configuration). `--allow-missing` runs the document all the same: an \
         attempt then ends with code 3.",
        "executor: {type: ehco}" => "executor: {type: echo}";
    UNUSABLE "P071" "Executor that cannot be used",
        "There is a plugin of this name, but it cannot be read, built or loaded. Nothing is run until it can be; `--allow-missing` \
         runs the document all the same: an attempt then ends with code 3.",
        "executor: {type: broken}" => "executor: {type: echo}";
}
