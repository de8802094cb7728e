"""Recorded requests as calls of the service, and which reading of each decision they show: functions over what was recorded."""
