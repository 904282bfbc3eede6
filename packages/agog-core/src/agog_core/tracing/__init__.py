"""Tracing: functions recorded as graphs and run again without Python between their ops."""
