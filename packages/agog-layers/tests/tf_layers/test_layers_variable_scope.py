"""Variables by name: their names, their values, and which are found again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import agog_core as ag
from agog_layers import (
    AUTO_REUSE,
    Dense,
    EagerVariableStore,
    Model,
    VariableScope,
    dense,
    get_local_variable,
    get_variable,
    get_variable_scope,
    make_template,
    variable_scope,
)
from agog_testing import says


def fails(error: type[Exception], text: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    with says(error, text) as caught:
        function(*args, **kwargs)
    assert type(caught.value) is error


def test_variables_get_their_values_from_initializers() -> None:
    assert get_variable("v", [2], initializer="ones").numpy().tolist() == [1.0, 1.0]
    assert get_variable("v", [2], ag.int64).numpy().tolist() == [0, 0]
    assert get_variable("v", [2], ag.bool).numpy().tolist() == [False, False]
    assert get_variable("v", initializer=3.0).shape == ()
    assert get_variable("v", initializer=np.arange(2)).dtype == ag.int64
    assert get_variable("v", initializer=lambda: 5.0).numpy() == 5.0
    assert get_variable("v", [2], ag.string, initializer=lambda shape, dtype: [b"a", b"b"]).dtype == ag.string
    assert not get_variable("v", [2], trainable=False).trainable
    assert not get_local_variable("v", [2], ag.float32, "ones").trainable
    assert get_variable("v", [], constraint=ag.abs).constraint is ag.abs


def test_default_values_are_glorot_uniform() -> None:
    values = get_variable("v", [50, 70]).numpy()
    limit = np.sqrt(6 / (50 + 70))
    assert np.abs(values).max() <= limit
    assert np.abs(values).max() > 0.95 * limit
    assert values.dtype == np.float32


def test_two_variables_of_one_name_are_two() -> None:
    first, second = get_variable("v", [2]), get_variable("v", [2])
    assert first is not second
    assert first.name == second.name == "v:0"
    with variable_scope("s", reuse=AUTO_REUSE):
        assert get_variable("v", [2]) is not get_variable("v", [2])


def test_scopes_nest() -> None:
    with variable_scope("a") as a, variable_scope("b") as b:
        assert get_variable("v", []).name == "a/b/v:0"
        assert (b.name, b.original_name_scope, get_variable_scope()) == ("a/b", "a/b/", b)
        assert ag.Variable(1.0, name="w").name == "a/b/w:0"
        with variable_scope(a):
            assert get_variable("v", []).name == "a/v:0"
            assert ag.Variable(1.0, name="w").name == "a/b/a/w:0"
        with variable_scope(""):
            assert get_variable("v", []).name == "a/b/v:0"
    assert get_variable("v", []).name == "v:0"
    assert get_variable_scope().name == ""


def test_scopes_set_defaults() -> None:
    with variable_scope("s", initializer="ones", dtype=ag.float64, constraint=ag.abs) as scope:
        v = get_variable("v", [2])
        assert (v.numpy().tolist(), v.dtype, v.constraint) == ([1.0, 1.0], ag.float64, ag.abs)
        with variable_scope("inner"):
            assert get_variable("v", [2]).dtype == ag.float64
        assert get_variable("v", [2], ag.float32, "zeros").numpy().tolist() == [0.0, 0.0]
        scope.set_initializer("zeros")
        assert get_variable("v", [2]).numpy().tolist() == [0.0, 0.0]


def test_default_names_are_counted() -> None:
    names = []
    for _ in range(2):
        with variable_scope(None, "counted_default_name") as scope:
            names.append(scope.name)
    assert names == ["counted_default_name", "counted_default_name_1"]
    fails(ValueError, "variable_scope: give name_or_scope or default_name.", variable_scope(None).__enter__)


def test_name_scopes_name_variables_but_not_those_of_get_variable() -> None:
    with ag.name_scope("a") as path, ag.name_scope("b") as inner:
        assert (path, inner) == ("a/", "a/b/")
        assert ag.Variable(1.0).name == "a/b/Variable:0"
        assert get_variable("v", []).name == "v:0"
        with ag.name_scope("whole/path/"):
            assert ag.Variable(1.0, name="v").name == "whole/path/v:0"
        with ag.name_scope(""):
            assert ag.Variable(1.0, name="v").name == "v:0"
        with ag.name_scope(None, "default"):
            assert ag.Variable(1.0, name="v").name == "a/b/default/v:0"
    with variable_scope("s", auxiliary_name_scope=False):
        assert ag.Variable(1.0, name="v").name == "v:0"
        assert get_variable("v", []).name == "s/v:0"


def test_layers_follow_scopes() -> None:
    with variable_scope("net"):
        layer = Dense(1, name="out")
        layer(ag.ones([1, 2]))
    assert [v.name for v in layer.variables] == ["net/out/kernel:0", "net/out/bias:0"]


def test_a_store_finds_variables_again() -> None:
    store = EagerVariableStore()
    with store.as_default(), variable_scope("s"):
        v = get_variable("v", [2])
        assert get_variable("v", [2]) is v
        get_variable("fixed", [], trainable=False)
    with store.as_default(), variable_scope("s", reuse=True):
        assert get_variable("v", [2]) is v
    assert get_variable("s/v", [2]) is not v
    assert [x.name for x in store.variables()] == ["s/fixed:0", "s/v:0"]
    assert [x.name for x in store.trainable_variables()] == ["s/v:0"]
    assert [x.name for x in store.non_trainable_variables()] == ["s/fixed:0"]


def test_a_store_shares_or_copies_its_variables() -> None:
    store = EagerVariableStore()
    with store.as_default():
        v = get_variable("v", initializer=1.0)
    assert EagerVariableStore(store).variables() == [v]
    copied = store.copy()
    copied.variables()[0].assign(5.0)
    assert (float(v), float(copied.variables()[0]), copied.variables()[0].name) == (1.0, 5.0, "v:0")
    fails(
        ValueError,
        "EagerVariableStore: store must be an EagerVariableStore or None; got 3 of type int.",
        EagerVariableStore,
        3,
    )


def test_a_store_finds_the_variables_of_functional_layers() -> None:
    store, x = EagerVariableStore(), ag.ones([1, 2])
    with store.as_default():
        first = dense(x, 3, name="shared_dense")
        second = dense(x, 3, name="shared_dense", reuse=True)
    assert first.numpy().tolist() == second.numpy().tolist()
    assert [v.name for v in store.variables()] == ["shared_dense/bias:0", "shared_dense/kernel:0"]


def test_what_is_found_must_fit() -> None:
    with EagerVariableStore().as_default():
        get_variable("v", [2])
        fails(
            ValueError, "get_variable: variable 'v:0' exists with shape (2,); got shape (3,).", get_variable, "v", [3]
        )
        fails(
            ValueError,
            "get_variable: variable 'v:0' exists with dtype float32; got dtype int32.",
            get_variable,
            "v",
            [2],
            ag.int32,
        )


def test_reuse_needs_a_store() -> None:
    text = (
        "get_variable: variable 's/v' cannot be reused: variable reuse is only supported when an EagerVariableStore is "
        "active (tfe.EagerVariableStore().as_default()), or in a tfe.make_template."
    )
    with variable_scope("s", reuse=True):
        fails(RuntimeError, text, get_variable, "v", [2])
    with variable_scope("s") as scope:
        scope.reuse_variables()
        fails(RuntimeError, text, get_variable, "v", [2])


def test_custom_getters() -> None:
    seen = []

    def getter(make: Callable[..., ag.Variable], name: str, **kwargs: Any) -> ag.Variable:
        seen.append((name, kwargs["shape"], kwargs["trainable"]))
        return make(name + "_own", **{**kwargs, "trainable": False})

    with variable_scope("s", custom_getter=getter):
        v = get_variable("v", [2])
    assert (v.name, v.trainable, seen) == ("s/v_own:0", False, [("s/v", [2], True)])
    assert get_variable("w", [2], custom_getter=getter).name == "w_own:0"


def test_errors() -> None:
    fails(
        ValueError,
        "get_variable: variable 'v' has an initial value, whose shape is the variable's; leave shape out.",
        get_variable,
        "v",
        [2],
        initializer=[1.0, 2.0],
    )
    fails(
        ValueError,
        "get_variable: the shape of variable 'v' must be fully known; got (?, 2).",
        get_variable,
        "v",
        [None, 2],
    )
    fails(ValueError, "get_variable: the shape of variable 'v' must be fully known; got <unknown>.", get_variable, "v")
    fails(
        ValueError,
        "get_variable: variable 'v' of dtype string needs an initializer.",
        get_variable,
        "v",
        [2],
        ag.string,
    )
    for function, arguments in ((get_variable, ("v", [2])), (VariableScope, ())):
        name = "get_variable" if function is get_variable else "variable_scope"
        fails(
            NotImplementedError,
            f"{name}: caching devices are not supported when eager execution is enabled; leave caching_device out.",
            function,
            *arguments,
            caching_device="/cpu:0",
        )
        fails(
            NotImplementedError,
            f"{name}: partitioned variables are not supported when eager execution is enabled; leave partitioner out.",
            function,
            *arguments,
            partitioner=len,
        )


def test_templates_share_their_variables_between_calls() -> None:
    def scale(x: Any, factor: float = 1.0, by: float = 1.0) -> ag.Tensor:
        return x * get_variable("factor", initializer=factor) * by

    template = make_template("scaled", scale, factor=2.0)
    assert template.variables == []
    assert float(template(3.0)) == 6.0
    template.variables[0].assign(10.0)
    assert float(template(3.0, by=2.0)) == 60.0
    assert [v.name for v in template.trainable_variables] == ["scaled/factor:0"]
    assert template.non_trainable_variables == []
    assert list(template.checkpoint_dependencies()) == ["factor"]
    other = make_template("scaled", scale)
    other(1.0)
    assert [v.name for v in other.variables] == ["scaled_1/factor:0"]


def test_templates_follow_the_scope_of_their_first_call() -> None:
    def function() -> ag.Variable:
        return get_variable("v", [])

    with variable_scope("made"):
        only = make_template("t", function, unique_name_="only")
        now = [make_template("t", function, create_scope_now_=True) for _ in range(2)]
        later = make_template("t", function)
    assert later.variable_scope is None
    with variable_scope("called"):
        made = [template() for template in (only, *now, later)]
    assert [v.name for v in made] == ["made/only/v:0", "made/t/v:0", "made/t_1/v:0", "called/t/v:0"]
    assert [template() for template in (only, *now, later)] == made
    assert later.name == "t"
    assert later.variable_scope is not None
    assert later.variable_scope.name == "called/t"


def test_only_the_first_call_of_a_template_makes_variables_to_train() -> None:
    def function(name: str, trainable: bool) -> ag.Variable:
        return get_variable(name, [], trainable=trainable)

    template = make_template("fixed_set", function)
    template("a", True)
    template("b", False)
    fails(
        ValueError,
        "Template 'fixed_set': only the first call may make variables to train; this one made fixed_set/c:0. Give "
        "get_variable the names of the first call.",
        template,
        "c",
        True,
    )
    fails(ValueError, "make_template: name cannot be None.", make_template, None, function)


def test_templates_in_templates_are_found_again() -> None:
    def inner() -> ag.Variable:
        return get_variable("v", [])

    def outer() -> list[ag.Variable]:
        return [make_template("inner", inner)() for _ in range(2)]

    first, second = make_template("outer_t", outer), make_template("outer_t", outer)
    mine = first()
    assert mine[0] is not mine[1]
    assert first() == mine
    assert [v.name for v in first.variables] == ["outer_t/inner/v:0", "outer_t/inner_1/v:0"]
    assert [v.name for v in second()] == ["outer_t_1/inner/v:0", "outer_t_1/inner_1/v:0"]
    parts = first.checkpoint_dependencies()
    assert list(parts) == ["inner", "inner_1"]
    assert parts["inner_1"].checkpoint_dependencies() == {"v": mine[1]}


def test_name_scopes_of_variable_scopes() -> None:
    with ag.name_scope("x"), variable_scope("tower") as tower:
        assert tower.original_name_scope == "x/tower/"
        assert get_variable("v", []).name == "tower/v:0"
        with ag.name_scope("y") as path:
            assert path == "x/tower/y/"
    with ag.name_scope("z"), variable_scope(tower) as again:
        assert (again.name, again.original_name_scope) == ("tower", "x/tower/")
        with ag.name_scope("y") as path:
            assert path == "z/tower/y/"
    with ag.name_scope("z"), variable_scope(get_variable_scope()), ag.name_scope("y") as path:
        assert path == "z/y/"


def test_reuse_is_inherited() -> None:
    with variable_scope("r", reuse=True), variable_scope("inner", reuse=False) as inner:
        assert inner.reuse is True
    with variable_scope(inner, reuse=False) as again:
        assert again.reuse is True


def test_scopes_take_tensors_as_initial_values() -> None:
    with variable_scope("s", initializer=ag.constant([1.0, 2.0])) as scope:
        assert get_variable("v").numpy().tolist() == [1.0, 2.0]
    assert scope.get_variable("w").name == "s/w:0"
    fails(
        ValueError,
        "get_variable: the dtypes of variable 'v' and its initial value don't match: float64 and int32; cast the "
        "value.",
        get_variable,
        "v",
        dtype=ag.float64,
        initializer=ag.constant(1),
    )


def test_scopes_can_be_changed() -> None:
    with variable_scope("s") as scope:
        scope.set_dtype(ag.float64)
        scope.set_regularizer(None)
        assert get_variable("v", []).dtype == ag.float64
        scope.set_custom_getter(lambda getter, name, **others: getter(f"{name}_got", **others))
        assert get_variable("v", []).name == "s/v_got:0"


def test_gradients_flow_to_the_variables_of_a_template() -> None:
    template = make_template("line", lambda x: x * get_variable("slope", initializer=2.0))
    ((gradient, variable),) = ag.implicit_gradients(template)(3.0)
    assert (float(gradient), variable) == (3.0, template.variables[0])


def test_models_have_the_variables_of_their_templates() -> None:
    class Net(Model):
        def __init__(self) -> None:
            super().__init__()
            self.body = make_template("body", lambda x: x * get_variable("w", initializer=2.0))
            self.others = [make_template("fixed", lambda: get_variable("v", [], trainable=False))]

        def call(self, x: Any) -> Any:
            self.others[0]()
            return self.body(x)

    net = Net()
    net(ag.ones([1]))
    assert [v.name for v in net.trainable_variables] == [v.name for v in net.body.variables]
    assert net.non_trainable_variables == net.others[0].variables
    assert len(net.variables) == 2
