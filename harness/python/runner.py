"""What CPython runs in a worker: maps the tensors, imports what the candidate names, enters the second stage of the jail, and only then
runs the candidate's code. Everything here is in the candidate's reach from then on; the parent trusts none of it.

Arguments: a literal with the numbers of the hand-off, then folders of packages. The sources of the numbers are worker/mod.rs and sys/jail.
"""


def main():
    import array
    import ast
    import ctypes
    import mmap
    import os
    import sys
    import time

    settings = ast.literal_eval(sys.argv[1])
    settings.update(settings["numbers"])
    sys.path += sys.argv[2:]
    word, fd, formats = settings["words"], settings["fds"], settings["formats"]
    read, write, leave = os.read, os.write, os._exit
    make, view, one = array.array, memoryview, (1).to_bytes(8, sys.byteorder)

    def mapped(number, protection):
        populate = getattr(mmap, "MAP_POPULATE", 0)
        return mmap.mmap(number, os.fstat(number).st_size, flags=mmap.MAP_SHARED | populate, prot=protection)

    both = mmap.PROT_READ | mmap.PROT_WRITE
    control = view(mapped(fd["control"], mmap.PROT_READ)).cast("Q")
    inputs = view(mapped(fd["input"], mmap.PROT_READ))
    outputs = view(mapped(fd["output"], both))
    status = view(mapped(fd["status"], both))
    text = bytes(mapped(fd["code"], mmap.PROT_READ)) if os.fstat(fd["code"]).st_size else b""

    def report(state, message=""):
        room = settings["message_max"]
        at = settings["message_at"]
        status[at : at + room] = message.encode("utf-8", "replace")[:room].ljust(room, b"\0")
        status[:8] = state.to_bytes(8, sys.byteorder)

    def explain(error):
        line, trace = None, getattr(error, "__traceback__", None)
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "kernel.py":
                line = trace.tb_lineno
            trace = trace.tb_next
        try:
            said = str(error)
        except BaseException:
            said = "an exception without words"
        return f"kernel.py:{line}: {type(error).__name__}: {said}"

    def imported(tree):
        """Imports what the text names, while files can be read. What fails here fails again in the candidate, which is told why."""
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                try:
                    __import__(name)
                except Exception:
                    pass

    def enclosed():
        """The second stage of the jail: no files, and only the calls of running code."""
        library = ctypes.CDLL(None, use_errno=True)

        class Program(ctypes.Structure):
            _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

        def asked(result):
            if result != 0:
                raise OSError(ctypes.get_errno(), "the second stage of the jail is refused")

        def control_process(*arguments):
            asked(library.prctl(*(ctypes.c_ulong(argument) for argument in arguments)))

        control_process(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
        if settings["ruleset"] >= 0:
            restrict = [ctypes.c_long(settings["restrict"]), ctypes.c_long(settings["ruleset"]), ctypes.c_long(0)]
            asked(library.syscall(*restrict))
        for number in set(range(3, settings["descriptors"])) - {fd["go"], fd["done"]}:
            try:
                os.close(number)
            except OSError:
                pass
        for code in map(bytes.fromhex, settings["filters"]):
            code = ctypes.create_string_buffer(code, len(code))
            program = Program(len(code) // 8, ctypes.addressof(code))
            control_process(22, 2, ctypes.addressof(program))  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER

    def taken(result, format):
        """Results are memory or plain lists, by their exact type: what computes when it is looked at is none."""
        if type(result) in (list, tuple):
            return make(format, result)
        if type(result) in plain:
            return result
        raise TypeError(f"a result of type {type(result).__name__}; a list, a tuple, an array or a memoryview is one")

    def load():
        """Runs the candidate's text, and returns its function; None if it has none."""
        scope = {"__name__": "kernel", "__builtins__": __builtins__}
        exec(code, scope)
        if settings["symbol"] in scope:
            return scope[settings["symbol"]]
        if "ModelNew" not in scope:
            return None
        forward = scope["ModelNew"]().forward

        def kernel(*arguments):
            tensors, dims = arguments[:-2], arguments[-2]
            count = control[word["inputs"]]
            results = forward(*tensors[:count], dims)
            targets = tensors[count:]
            results = results if type(results) is tuple and len(targets) > 1 else (results,)
            if len(results) != len(targets):
                raise TypeError(f"{len(results)} results; the task has {len(targets)} outputs")
            for target, result in zip(targets, results):
                target[:] = taken(result, target.format)

        return kernel

    def arguments(call):
        tensors, count = [], control[word["inputs"]]
        for number, format in enumerate(formats):
            memory, kind, tensor = (inputs, "input", number) if number < count else (outputs, "output", number - count)
            start = control[word[f"{kind}_at"] + tensor] + call * control[word[f"{kind}_stride"] + tensor]
            end = start + control[word["elements"] + number] * 4
            tensors.append(memory[start:end].cast(format))
        dims = tuple(control[word["dim"] + at] for at in range(control[word["dims"]]))
        stride = control[word["workspace_stride"]]
        start = control[word["workspace"]] + call * stride
        return (*tensors, dims, outputs[start : start + stride])

    blame = settings["load_failed"]
    try:
        tree = compile(text, "kernel.py", "exec", ast.PyCF_ONLY_AST)
        code = compile(tree, "kernel.py", "exec")
        imported(tree)
        plain = [make, view] + [sys.modules[name].ndarray for name in ["numpy"] if name in sys.modules]
        if "ctypes" not in text.decode("utf-8", "replace"):
            for name in [name for name in sys.modules if "ctypes" in name]:
                del sys.modules[name]
        # What is not imported by now cannot be: a missing module is then that, and no refused call.
        sys.meta_path[:] = sys.meta_path[:2]
        sys.path.clear()
        blame = settings["jail_failed"]
        enclosed()
        blame = settings["load_failed"]
        kernel = load()
        report(*((settings["loaded"],) if kernel else (settings["no_symbol"],)))
    except BaseException as error:
        kernel = None
        report(blame, explain(error))
    write(fd["done"], one)
    while True:
        read(fd["go"], 8)
        try:
            if control[word["operation"]] == settings["naive"]:
                # As harnesses in one process do it: the same buffers, and a clock within the code's reach.
                total, calls = 0, control[word["calls"]]
                for _ in range(calls):
                    start = time.perf_counter_ns()
                    kernel(*arguments(0))
                    total += time.perf_counter_ns() - start
                at = settings["naive_ps"] * 8
                status[at : at + 8] = (int(total) * 1000 // calls).to_bytes(8, sys.byteorder)
            else:
                for call in range(control[word["calls"]]):
                    kernel(*arguments(call))
        except BaseException as error:
            report(settings["load_failed"], explain(error))
            leave(settings["raised"])
        write(fd["done"], one)


main()
