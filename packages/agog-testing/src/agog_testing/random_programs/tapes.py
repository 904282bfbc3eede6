"""Tapes: calls under tapes, with targets and sources of gradients."""

from __future__ import annotations

from agog_testing.random_programs.arguments import Arguments

_SEEDS = "[tf.cast(tf.sin(tf.cast(r, tf.float32) + 1.0), r.dtype) for r in {}]"

_USES = ("tf.square(y)", "tf.sinh(tf.tanh(y))", "y * tf.sigmoid(y)", "tf.reduce_max(y)", "tf.transpose(y)")


class Tapes(Arguments):
    """Calls under tapes."""

    def target(self, name: str) -> str:
        """The target of the gradient."""
        count, draw = self.plan.results, self.draw
        place = draw.below(count)
        texts = [f"{name}[{place}]", name, f"{name}[:{1 + draw.below(count)}]", f"tf.reduce_sum({name}[{place}])"]
        return draw.one([*texts, f"{name}[{place}]", f"{name}[{place}]"])

    def sources(self, floats: list[str]) -> str:
        """The sources of the gradient."""
        names = [*floats, *[v.name for v in self.plan.variables]]
        if not names:
            return "[tf.constant(1.0)]"
        chosen = self.draw.some(names, 3)
        return f"[{', '.join(chosen)}{', tf.constant(1.0)' if self.draw.chance(0.05) else ''}]"

    def rest(self, target: str) -> str:
        """Other arguments of a gradient."""
        draw, parts = self.draw, ""
        if draw.chance(0.2):
            parts += ", unconnected_gradients='zero'"
        if draw.chance(0.2):
            parts += f", output_gradients={_SEEDS.format(_listed(target))}"
        return parts

    def asked(self, tape: str, name: str, floats: list[str], shared: bool, target: str | None = None) -> None:
        """A gradient."""
        target = target or self.target(name)
        see = "see.sums" if shared else "see"
        self.scope.add(f"{see}(*{tape}.gradient({target}, {self.sources(floats)}{self.rest(target)}))")

    def taped(self, persistent: bool = False, times: int = 1) -> None:
        """A call under a tape."""
        args, floats, twice = self.given()
        watched = self.draw.some(floats, 3) if floats and self.draw.chance(0.9) else []
        with self.scope.block(f"with tf.GradientTape({'persistent=True' if persistent else ''}) as tape:"):
            for each in watched:
                self.scope.add(f"tape.watch({each})")
            name = self.results(f"f({args})")
            target = None
            if self.draw.chance(0.3):
                place = self.draw.below(self.plan.results)
                self.scope.add(f"loss = tf.reduce_sum(tf.tanh(tf.cast({name}[{place}], tf.float32)))")
                target = "loss"
        if self.draw.chance(0.8):
            self.scope.add(f"see(*{name})")
        if self.plan.variables and self.draw.chance(0.1):
            v = self.draw.one(self.plan.variables)
            self.scope.add(f"{v.name}.assign(data({self.draw.number()}, {list(v.shape)}))")
        for _ in range(times):
            self.asked("tape", name, floats, twice, target if self.draw.chance(0.7) else None)

    def persistent(self) -> None:
        """Several gradients of one call."""
        self.taped(True, 2 + self.draw.below(3))

    def recording(self) -> None:
        """A gradient that is asked for while the tape records."""
        args, floats, twice = self.given()
        with self.scope.block("with tf.GradientTape(persistent=True) as tape:"):
            self.scope.add(f"tape.watch([{', '.join(floats)}])")
            name = self.results(f"f({args})")
            self.asked("tape", name, floats, twice)
            self.asked("tape", name, floats, twice)
        self.asked("tape", name, floats, twice)

    def second(self) -> None:
        """Second derivatives."""
        args, floats, twice = self.given()
        if not floats:
            return
        x = self.draw.one(floats)
        with self.scope.block("with tf.GradientTape(persistent=True) as outer:"):
            self.scope.add(f"outer.watch([{', '.join(floats)}])")
            with self.scope.block("with tf.GradientTape() as tape:"):
                self.scope.add(f"tape.watch({x})")
                name = self.results(f"f({args})")
            self.scope.add(f"d = tape.gradient({self.target(name)}, {x})")
        self.scope.add(f"see(*{name}, d)")
        with self.scope.block("if d is not None:"):
            self.asked("outer", name, floats, twice, "d")
        self.asked("outer", name, floats, twice)

    def afterwards(self) -> None:
        """A gradient that a second tape records, which was not there at the call."""
        args, floats, twice = self.given()
        if not floats:
            return
        watch = f"watch([{', '.join(floats)}])"
        with self.scope.block("with tf.GradientTape(persistent=True) as tape:"):
            self.scope.add(f"tape.{watch}")
            name = self.results(f"f({args})")
        target, x = self.target(name), self.draw.one(floats)
        with self.scope.block("with tf.GradientTape(persistent=True) as other:"):
            self.scope.add(f"other.{watch}")
            if self.draw.chance(0.4):
                self.scope.add(f"other.watch(tf.nest.flatten({name}[0]))")
            self.scope.add(f"d = tape.gradient({target}, {x})")
        self.scope.add(f"see(*{name}, d)")
        with self.scope.block("if d is not None:"):
            self.asked("other", name, floats, twice, "d")

    def several(self) -> None:
        """Several calls under one tape."""
        args, floats, _ = self.given()
        persistent = self.draw.chance(0.4)
        with self.scope.block(f"with tf.GradientTape({'persistent=True' if persistent else ''}) as tape:"):
            self.scope.add(f"tape.watch([{', '.join(floats)}])")
            first = self.results(f"f({args})")
            if self.draw.chance(0.5) and self.plan.arguments[0].kind == "tensor":
                self.scope.add("x0 = x0 * 0.5 + 0.1")
            second = self.results(f"f({args})")
            self.scope.add(f"loss = tf.add_n([tf.reduce_sum(tf.cast(r, tf.float32)) for r in {first} + {second}])")
        self.scope.add(f"see(*{first}, *{second})")
        for _ in range(1 + persistent):
            target = self.draw.one(("loss", f"{first} + {second}", f"{first}[0]", f"{second}[-1]"))
            self.asked("tape", first, floats, True, target)

    def further(self) -> None:
        """Results are used further, and so may what went in."""
        args, floats, twice = self.given()
        draw, shared = self.draw, twice
        with self.scope.block("with tf.GradientTape() as tape:"):
            self.scope.add(f"tape.watch([{', '.join(floats)}])")
            if draw.chance(0.3) and floats:
                self.scope.add(f"{floats[0]} = tf.tanh({floats[0]})")
            name = self.results(f"f({args})")
            self.scope.add(f"y = tf.cast({name}[{draw.below(self.plan.results)}], tf.float32)")
            use = draw.one(_USES)
            self.scope.add(f"loss = tf.reduce_sum({use})")
            if floats and draw.chance(0.4):
                shared = True
                self.scope.add(f"loss = loss + tf.reduce_sum(tf.cast({floats[0]} * {floats[0]}, tf.float32))")
            if self.plan.variables and draw.chance(0.3):
                shared = True
                self.scope.add(f"loss = loss * tf.reduce_mean({self.plan.variables[0].name} * 0.5)")
        self.scope.add(f"see(loss, *{name})")
        self.asked("tape", name, floats, shared, "loss")

    def later(self) -> None:
        """A gradient that is asked for after another call."""
        args, floats, twice = self.given()
        with self.scope.block("with tf.GradientTape() as tape:"):
            self.scope.add(f"tape.watch([{', '.join(floats)}])")
            name = self.results(f"f({args})")
        other, _, _ = self.given()
        self.scope.add(f"see(*tf.nest.flatten(f({other})))")
        self.scope.add(f"see(*{name})")
        self.asked("tape", name, [], twice)

    def stopped(self) -> None:
        """A call that the tape does not see."""
        args, floats, twice = self.given()
        with self.scope.block("with tf.GradientTape() as tape:"):
            self.scope.add(f"tape.watch([{', '.join(floats)}])")
            with self.scope.block("with tape.stop_recording():"):
                first = self.results(f"f({args})")
            second = self.results(f"f({args})")
        self.scope.add(f"see(*{first}, *{second})")
        self.asked("tape", self.draw.one((first, second)), floats, twice)

    def unwatched(self) -> None:
        """A tape that watches given tensors, or nothing; tensors from outside too."""
        args, floats, twice = self.given()
        with self.scope.block("with tf.GradientTape(watch_accessed_variables=False) as tape:"):
            if self.plan.variables and self.draw.chance(0.6):
                self.scope.add(f"tape.watch({self.draw.one(self.plan.variables).name})")
            if floats and self.draw.chance(0.7):
                self.scope.add(f"tape.watch({floats[0]})")
            name = self.results(f"f({args})")
        self.scope.add(f"see(*{name}, *tape.watched_variables())")
        self.asked("tape", name, floats, twice)

    def jacobian(self) -> None:
        """The derivatives of each element."""
        args, floats, twice = self.given()
        if not floats:
            return
        with self.scope.block("with tf.GradientTape() as tape:"):
            self.scope.add(f"tape.watch([{', '.join(floats)}])")
            name = self.results(f"f({args})")
            self.scope.add(f"y = tf.reshape({name}[{self.draw.below(self.plan.results)}], [-1])[:4]")
        see = "see.sums" if twice else "see"
        self.scope.add(f"see(*{name})")
        self.scope.add(f"{see}(tape.jacobian(y, {self.draw.one(floats)}))")


def _listed(target: str) -> str:
    return target if target.endswith(":") or ":" in target or "+" in target else f"tf.nest.flatten({target})"
