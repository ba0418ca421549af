"""The state of every file of a working tree at one moment, so that changes are found without any report of them."""

from commonhold.workspace.survey.surveyor import Change, Survey, Surveyor

__all__ = ["Change", "Survey", "Surveyor"]
