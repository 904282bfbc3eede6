"""Arguments: the arguments of a program's function, which change from call to call."""

from __future__ import annotations

from agog_testing.random_programs.plan import Argument, Plan
from agog_testing.random_programs.scope import Scope, shape_of


class Arguments:
    """New arguments for each call."""

    def __init__(self, scope: Scope, plan: Plan) -> None:
        self.scope, self.plan, self.draw = scope, plan, scope.draw
        self.changes = self.draw.one(("values",) * 5 + ("shapes", "dtypes", "numbers", "layouts", "edges", "scales"))
        self.number = self.draw.factor()
        self.count = self.draw.below(4) + 1
        self.is_twice = self.draw.chance(0.1)
        self.names: list[str] = []

    def given(self) -> tuple[str, list[str], bool]:
        """New arguments: the code of the call, the names of those that have gradients, and whether one comes twice."""
        names, floats = [], []
        self.names = []
        sizes = self.plan.sizes
        if self.changes == "shapes" and self.draw.chance(0.5):
            sizes = (self.draw.one((1, sizes[0] + 1, max(1, sizes[0] // 2))), sizes[1])
        for argument in self.plan.arguments:
            code = self._argument(argument, sizes)
            if argument.kind in ("int", "float", "variable"):
                names.append(code)
                continue
            self.scope.add(f"{argument.name} = {code}")
            names.append(argument.name)
            if argument.kind == "tensor" and "float" in argument.dtype:
                floats.append(argument.name)
        twice = False
        same = [x for x in self.plan.arguments if x.kind == "tensor" and (x.shape, x.dtype) == self._first()]
        if self.is_twice and len(same) > 1:
            self.scope.add(f"{same[1].name} = {same[0].name}")
            twice = True
        return ", ".join(names), floats, twice

    def _first(self) -> tuple[str, str]:
        first = self.plan.arguments[0]
        return first.shape, first.dtype

    def _argument(self, argument: Argument, sizes: tuple[int, int]) -> str:
        draw, kind = self.draw, argument.kind
        if kind in ("int", "float"):
            if self.changes == "numbers" and draw.chance(0.6):
                self.number, self.count = draw.factor(), draw.below(12) - 1
            return repr(self.count if kind == "int" else self.number)
        if kind == "variable":
            return argument.shape
        if kind == "pair":
            both = [self._argument(argument._replace(kind="tensor"), sizes) for _ in range(2)]
            return f"({', '.join(both)})"
        if kind == "indices":
            return f"indices({draw.number()}, 3, {sizes[draw.below(2)]}, outside={draw.chance(0.25)})"
        dtype = argument.dtype
        if self.changes == "dtypes" and draw.chance(0.4) and "float" in dtype:
            dtype = draw.one(("float32", "float64"))
        scale = draw.one((1.0, 1.0, 1.0, 0.1, 4.0)) if self.changes in ("scales", "values") else 1.0
        edges = self.changes == "edges" and draw.chance(0.5)
        shape = list(shape_of(argument.shape, sizes))
        rest = f", '{dtype}', {scale}{', edges=True' if edges else ''}"
        code = f"data({draw.number()}, {shape}{rest})"
        if self.changes == "layouts" and shape and draw.chance(0.6):
            axis = "::-1" if draw.chance(0.5) else None
            if axis is None and len(shape) > 1:
                code = f"tf.transpose(data({draw.number()}, {shape[::-1]}{rest}))"
            else:
                code = f"{code}[::-1]"
        return f"np.array({code}.numpy())" if kind == "array" else code

    def results(self, call: str) -> str:
        """Statements of a call; the name of the list of its results."""
        name = self.scope.fresh("r")
        self.scope.add(f"{name} = tf.nest.flatten({call})")
        return name
