"""Calls: uses of a traced function: plain calls, tapes, forward mode, threads, steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable

from agog_testing.random_programs.plan import Plan
from agog_testing.random_programs.scope import Scope
from agog_testing.random_programs.tapes import Tapes

_USES = ("tf.sinh(tf.tanh({0}))", "tf.reduce_sum({0})", "tf.reduce_mean({0}, 0)", "tf.exp(-{0} * {0})")


class Calls(Tapes):
    """The calls of a program, written one after the other."""

    def write(self) -> None:
        """One call, with what it is asked for."""
        kinds: list[tuple[int, Callable[[], None]]] = [
            *((7, self.plain), (8, self.taped), (3, self.persistent), (2, self.second), (3, self.several)),
            *((3, self.further), (2, self.later), (2, self.nested), (1, self.forward), (1, self.stopped)),
            *((1, self.functional), (2, self.unwatched), (1, self.recording), (2, self.afterwards)),
        ]
        if not self.plan.large:
            kinds.append((1, self.jacobian))
        if not self.plan.random and not self.plan.writes:
            kinds += [(2, self.threads), (1, self.taped_threads)]
        if self.plan.optimizer:
            kinds.append((4, self.trained))
        self.between()
        with self.scope.block("with see.call():"):
            self.draw.weighted(kinds)()

    def between(self) -> None:
        """The statements between calls."""
        draw = self.draw
        if self.plan.variables and draw.chance(0.15):
            v = draw.one(self.plan.variables)
            code = draw.one(("{0}.assign({1})", "{0}.assign_add({1})", "{0}.assign({0} * 0.5 + {1})"))
            self.scope.add(code.format(v.name, f"data({draw.number()}, {list(v.shape)})"))
        if draw.chance(0.05):
            self.scope.add(f"tf.set_random_seed({draw.below(3)})")

    def plain(self) -> None:
        """A call without a tape."""
        args, _, _ = self.given()
        name = self.results(f"f({args})")
        self.scope.add(f"see(*{name})")
        use = self.draw.one(
            ("tf.sinh(tf.tanh({0}))", "tf.reduce_sum({0})", "tf.reduce_mean({0}, 0)", "tf.exp(-{0} * {0})")
        )
        if self.draw.chance(0.4):
            self.scope.add(f"see(*[{use.format('tf.cast(r, tf.float32)')} for r in {name} if r.shape.as_list()])")

    def nested(self) -> None:
        """A call inside another traced function, which may have a tape of its own; and a tape outside of that."""
        args, floats, twice = self.given()
        params = ", ".join(argument.name for argument in self.plan.arguments)
        outer = self.scope.fresh("outer")
        self.scope.add("@tf.function")
        taped = bool(floats) and self.draw.chance(0.5)
        with self.scope.block(f"def {outer}({params}):"):
            call = f"f({params})"
            if taped:
                with self.scope.block("with tf.GradientTape() as inner:"):
                    self.scope.add(f"inner.watch({floats[0]})")
                    name = self.results(call)
                target = self.target(name)
                self.scope.add(f"d = inner.gradient({target}, {floats[0]}, unconnected_gradients='zero')")
                self.scope.add(f"return [*{name}, d]")
            else:
                name = self.results(call)
                self.scope.add(f"return [*{name}, tf.tanh(tf.cast({name}[0], tf.float32))]")
        if self.draw.chance(0.5):
            with self.scope.block("with tf.GradientTape() as tape:"):
                self.scope.add(f"tape.watch([{', '.join(floats)}])")
                name = self.results(f"{outer}({args})")
            self.scope.add(f"see(*{name})")
            self.asked("tape", name, floats, twice)
        for _ in range(1 + self.draw.below(2)):
            args, _, _ = self.given()
            self.scope.add(f"see(*{outer}({args}))")

    def forward(self) -> None:
        """Forward mode."""
        args, floats, _ = self.given()
        if not floats:
            return
        self.scope.add(f"x = {floats[0]}")
        with self.scope.block("with tf.ForwardAccumulator(x, tf.ones_like(x)) as forward:"):
            name = self.results(f"f({args})")
        self.scope.add(f"see(*[forward.jvp(r) for r in {name}])")

    def functional(self) -> None:
        """The functions that take a function to its gradient."""
        args, _, twice = self.given()
        see = "see.sums" if twice else "see"
        place = self.draw.below(self.plan.results)
        call = f"f({args.replace('x0', 'x', 1)})"
        code = f"lambda x: tf.reduce_sum(tf.nest.flatten({call})[{place}])"
        if self.draw.chance(0.25):
            self.scope.add(f"see(*tf.jvp({code}, [x0], [tf.ones_like(x0)]))")
            return
        maker = self.draw.one(("value_and_gradients_function", "gradients_function"))
        self.scope.add(f"see(*tf.nest.flatten(tf.{maker}({code})(x0)))")
        if self.plan.variables and self.draw.chance(0.5):
            self.scope.add(f"pairs = tf.implicit_gradients(lambda: tf.nest.flatten(f({args}))[-1])()")
            self.scope.add(f"{see}(*[d for d, _ in pairs])")

    def threads(self) -> None:
        """Calls from two threads."""
        args, _, _ = self.given()
        names = [argument.name for argument in self.plan.arguments if argument.kind == "tensor"]
        other = args.replace("x0", "x0 * 0.5", 1) if "x0" in names else args
        self.scope.add(f"see(*tf.nest.flatten(in_threads(lambda: f({args}), lambda: f({other}), lambda: f({args}))))")

    def taped_threads(self) -> None:
        """Calls under tapes from two threads."""
        args, floats, _ = self.given()
        if not floats:
            return
        x = self.draw.one(floats)
        with self.scope.block(f"def work({x}):"):
            with self.scope.block("with tf.GradientTape() as tape:"):
                self.scope.add(f"tape.watch({x})")
                name = self.results(f"f({args})")
            self.scope.add(f"return [*{name}, tape.gradient({self.target(name)}, {x}, unconnected_gradients='zero')]")
        see = "see.sums" if self.is_twice else "see"
        self.scope.add(f"{see}(*tf.nest.flatten(in_threads(lambda: work({x}), lambda: work({x} * 0.5))))")

    def trained(self) -> None:
        """A step of an optimizer outside of the function."""
        args, _, _ = self.given()
        variables = self.draw.some([v.name for v in self.plan.variables], 3)
        with self.scope.block("with tf.GradientTape() as tape:"):
            name = self.results(f"f({args})")
            self.scope.add(f"loss = tf.reduce_sum(tf.cast({name}[{self.draw.below(self.plan.results)}], tf.float32))")
        self.scope.add(f"ds = tape.gradient(loss, [{', '.join(variables)}])")
        if self.draw.chance(0.3):
            self.scope.add("ds, norm = tf.clip_by_global_norm(ds, 1.0)")
        self.scope.add("see(*ds)")
        with self.scope.block("if any(d is not None for d in ds):"):
            self.scope.add(f"opt.apply_gradients(zip(ds, [{', '.join(variables)}]))")


def write_calls(scope: Scope, plan: Plan) -> None:
    """The calls of a program: six to nine."""
    scope.add("")
    calls = Calls(scope, plan)
    for _ in range(6 + scope.draw.below(4)):
        calls.write()
