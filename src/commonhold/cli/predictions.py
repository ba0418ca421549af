"""Predictions of the files that tasks change, for commands."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from commonhold.bootstrap import open_predictor
from commonhold.cli.common_options import Given, start_of
from commonhold.cli.index_place import progress_for
from commonhold.config import load_settings
from commonhold.kernel.task import Task
from commonhold.tasks.prediction import Predictor, Touch, likely_keys
from commonhold.tasks.scheduling import limit_for
from commonhold.workspace.repository import find_repository


class Predictions:
    """Predictions for the repository that a command acts in; it is read at the first question."""

    def __init__(self, given: Given) -> None:
        """Find the repository by the common options."""
        self._given = given

    @cached_property
    def _predictor(self) -> Predictor:
        repository = find_repository(start_of(self._given))
        return open_predictor(repository, load_settings(repository.root), progress_for(self._given))

    def of(self, task: Task) -> tuple[Touch, ...]:
        """Return the files that a task will probably change, by its title and intent."""
        return self._predictor.predict(f"{task.title}\n{task.intent}")

    def limit(self) -> float:
        """Return the risk above which two tasks of this project should not run together."""
        return limit_for(self._predictor)

    def added_to(self, tasks: Iterable[Task]) -> tuple[Task, ...]:
        """Return the tasks, those that declare no keys with predicted ones."""
        return tuple(each if each.keys else replace(each, predicted_keys=likely_keys(self.of(each))) for each in tasks)
