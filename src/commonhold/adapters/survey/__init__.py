"""What every file of a working tree was at one moment, so that whoever changed it need not say so."""

from commonhold.adapters.survey.surveyor import Change, Survey, Surveyor

__all__ = ["Change", "Survey", "Surveyor"]
